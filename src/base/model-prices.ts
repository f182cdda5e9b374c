// Reads and checks the operator's file MODEL_PRICES, whose prices of models replace the built-in ones, again when it changes.

import { readFileSync, statSync } from 'node:fs'
import { codeOf, messageOf } from './errors.ts'
import type { Log } from './log.ts'

/** USD per million tokens, as the operator's MODEL_PRICES file gives them. */
export interface ModelPrices {
  input: number
  output: number
  cache_read?: number
  cache_write?: number
}
export type PriceOverrides = Readonly<Record<string, ModelPrices>>

export interface PriceFile {
  file: string
  prices: PriceOverrides
}

const MAX_OVERRIDES = 10_000

/** Throws an Error that says why the file has no prices. */
export function readPriceFile(file: string): PriceOverrides {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`cannot be read (${codeOf(error) ?? 'unknown error'})`)
  }
  try {
    return parsePriceOverrides(text)
  } catch (error) {
    throw new Error(`is no file of prices: ${messageOf(error)}`)
  }
}

/** Checks the content of a MODEL_PRICES file; throws an Error naming the first wrong entry. */
export function parsePriceOverrides(text: string): PriceOverrides {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new Error(`not JSON (${messageOf(error)})`)
  }
  if (!isObject(parsed)) throw new Error('must be an object of models')
  const entries = Object.entries(parsed)
  if (entries.length > MAX_OVERRIDES) throw new Error(`more than ${MAX_OVERRIDES} models`)
  return Object.fromEntries(entries.map(([model, prices]) => [model, checkedPrices(model, prices)]))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const NAMES = ['input', 'output', 'cache_read', 'cache_write']

function checkedPrices(model: string, prices: unknown): ModelPrices {
  if (!isObject(prices)) throw new Error(`"${model}" must be an object of prices`)
  for (const [name, value] of Object.entries(prices)) {
    if (!NAMES.includes(name))
      throw new Error(`"${model}" has an unknown price "${name}": ${NAMES.join(', ')}`)
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw new Error(`"${model}".${name} must be US dollars per million tokens, 0 or more`)
  }
  const { input, output, ...others }: Partial<ModelPrices> = prices
  if (input === undefined || output === undefined) throw new Error(`"${model}" needs input and output`)
  return { input, output, ...others }
}

/** Makes something of the server's prices, again when the MODEL_PRICES file has changed and can be used. */
export function createPriceSource<Loaded>(
  file: PriceFile | null,
  log: Log,
  load: (prices: PriceOverrides | undefined) => Promise<Loaded>,
): () => Promise<Loaded> {
  let prices = file?.prices
  let stamp = ''
  let loaded: Promise<Loaded> | undefined
  const readChanged = ({ file }: PriceFile) => {
    const newStamp = stampOf(file)
    if (newStamp === stamp) return
    stamp = newStamp
    try {
      prices = readPriceFile(file)
      loaded = undefined
    } catch (error) {
      log.warn(`MODEL_PRICES ${messageOf(error)}: the prices stay as they were`, { file })
    }
  }
  return () => {
    if (file !== null) readChanged(file)
    loaded ??= load(prices)
    return loaded
  }
}

/** Returns a text that changes with the content: a file is replaced, or written to. */
function stampOf(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? 'no file' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`
}
