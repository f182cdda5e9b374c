import { InvalidArgumentError } from 'commander'

/** An option's parser: an integer from `minimum` to `maximum`. */
export const integer = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= minimum && value <= maximum) return value
  throw new InvalidArgumentError(`It must be an integer from ${minimum} to ${maximum}.`)
}
