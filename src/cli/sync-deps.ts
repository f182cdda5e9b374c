import { readFileSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { Sql } from '../db/client.ts'
import { OperatorError } from '../errors.ts'
import { loadPricer, type Pricer, parsePriceOverrides } from '../scoring/prices.ts'
import type { SyncDeps } from '../sync/write.ts'

/** The pricer of the settings, loaded when it is first asked for. Throws OperatorError for a wrong MODEL_PRICES file. */
export function pricerOf({ modelPrices }: Pick<Config, 'modelPrices'>): () => Promise<Pricer> {
  let loaded: Promise<Pricer> | undefined
  const load = async () =>
    loadPricer(modelPrices === null ? {} : parsePriceOverrides(readPrices(modelPrices)))
  return () => {
    loaded ??= load()
    return loaded
  }
}

function readPrices(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OperatorError(
      `MODEL_PRICES ${path} cannot be read: ${error instanceof Error ? error.message : error}`,
      2,
    )
  }
}

/** What `writeRecords` needs, from the settings. */
export const syncDepsOf = ({ config }: { config: Config }, sql: Sql): SyncDeps => ({
  sql,
  now: () => new Date(),
  storeContent: config.storeContent,
  pricer: pricerOf(config),
})
