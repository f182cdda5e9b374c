// Makes what commands need that price records or write them to the local database.

import { loadPricer, type Pricer } from '../../analysis/scoring/prices.ts'
import { once } from '../../base/memoize.ts'
import type { Config } from '../../config.ts'
import type { Sql } from '../../database/client.ts'
import type { SyncDeps } from '../../server/sync/write.ts'

/** The pricer of the settings, loaded at the first call. */
export const pricerOf = ({ modelPrices }: Pick<Config, 'modelPrices'>): (() => Promise<Pricer>) =>
  once(() => loadPricer(modelPrices?.prices))

/** Makes the dependencies of `writeRecords` from the settings. */
export const syncDepsOf = ({ config }: { config: Config }, sql: Sql): SyncDeps => ({
  sql,
  now: () => new Date(),
  storeContent: config.storeContent,
  pricer: pricerOf(config),
})
