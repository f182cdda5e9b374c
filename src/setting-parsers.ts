// Parsers of settings: from the text of a flag or an environment variable to a value.

/** Why a text is not a valid value. `reason` never contains the text, which may be a secret. */
export class Invalid {
  constructor(readonly reason: string) {}
}

export type Parser<Value> = (text: string) => Value | Invalid

export const integer =
  (minimum: number, maximum: number): Parser<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum
      ? value
      : new Invalid(`must be an integer from ${minimum} to ${maximum}`)
  }

/** `minItems` to `maxItems` integers, separated by commas. */
export const integers =
  (item: Parser<number>, minItems: number, maxItems: number, reason: string): Parser<readonly number[]> =>
  (text) => {
    const values = text.split(',').map((part) => item(part.trim()))
    const valid = values.filter((value) => typeof value === 'number')
    const isValid = valid.length === values.length && valid.length >= minItems && valid.length <= maxItems
    return isValid ? valid : new Invalid(reason)
  }

export const oneOf =
  <Value extends string>(values: readonly Value[]): Parser<Value> =>
  (text) =>
    values.find((value) => value === text) ?? new Invalid(`must be one of ${values.join(', ')}`)

export const matching =
  (pattern: RegExp, reason: string): Parser<string> =>
  (text) =>
    pattern.test(text) ? text : new Invalid(reason)

export const boolean: Parser<boolean> = (text) => {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  return /^(false|0|no|off)$/i.test(text) ? false : new Invalid('must be true or false')
}

/** An absolute http or https URL, without a trailing slash. */
export const httpUrl: Parser<string> = (text) => {
  const { protocol = '', hostname = '' } = URL.canParse(text) ? new URL(text) : {}
  const isValid = (protocol === 'http:' || protocol === 'https:') && hostname !== ''
  return isValid ? text.replace(/\/+$/, '') : new Invalid('must be an absolute http or https URL')
}

/** 32 bytes in base64 or base64url. */
export const key32: Parser<Uint8Array> = (text) => {
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
  return bytes?.length === 32
    ? new Uint8Array(bytes)
    : new Invalid('must be 32 bytes in base64 (openssl rand -base64 32)')
}

/** IP networks, separated by commas. */
export const networks: Parser<readonly string[]> = (text) => {
  const values = text.split(',').map((part) => part.trim())
  return values.every(isNetwork)
    ? values
    : new Invalid('must be networks such as 10.0.0.0/8, separated by commas')
}

function isNetwork(text: string): boolean {
  const match = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text)
  const [, address = '', bits = ''] = match ?? []
  if (address.includes(':')) return URL.canParse(`http://[${address}]/`) && Number(bits) <= 128
  return /^(\d{1,3}\.){3}\d{1,3}$/.test(address) && URL.canParse(`http://${address}/`) && Number(bits) <= 32
}
