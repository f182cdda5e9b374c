import { statSync } from 'node:fs'
import { loadPricer, type Pricer } from '../../analysis/scoring/prices.ts'
import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { type PriceFile, readPriceFile } from '../../base/model-prices.ts'

/**
 * The pricer of a server, loaded at the first call. Each call looks whether the MODEL_PRICES file has changed, and reads it
 * again then; while it cannot be used, which is logged once, the prices stay as they were.
 */
export function createPricerSource(given: PriceFile | null, log: Log): () => Promise<Pricer> {
  let prices = given?.prices
  let stamp = ''
  let loaded: Promise<Pricer> | undefined
  const readChanged = ({ file }: PriceFile) => {
    const found = stampOf(file)
    if (found === stamp) return
    stamp = found
    try {
      prices = readPriceFile(file)
      loaded = undefined
    } catch (error) {
      log.warn(`MODEL_PRICES ${messageOf(error)}: the prices stay as they were`, { file })
    }
  }
  return () => {
    if (given !== null) readChanged(given)
    loaded ??= loadPricer(prices)
    return loaded
  }
}

/** Returns a text that changes with the content: a file is replaced, or written to. */
function stampOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? 'no file' : `${found.ino} ${found.mtimeNs} ${found.size}`
}
