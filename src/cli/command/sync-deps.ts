import { loadPricer, type Pricer } from '../../analysis/scoring/prices.ts'
import type { Config } from '../../config.ts'
import type { Sql } from '../../database/client.ts'
import type { SyncDeps } from '../../server/sync/write.ts'

/** The pricer of the settings, loaded at the first call. */
export function pricerOf({ modelPrices }: Pick<Config, 'modelPrices'>): () => Promise<Pricer> {
  let loaded: Promise<Pricer> | undefined
  return () => {
    loaded ??= loadPricer(modelPrices?.prices)
    return loaded
  }
}

/** Makes the dependencies of `writeRecords` from the settings. */
export const syncDepsOf = ({ config }: { config: Config }, sql: Sql): SyncDeps => ({
  sql,
  now: () => new Date(),
  storeContent: config.storeContent,
  pricer: pricerOf(config),
})
