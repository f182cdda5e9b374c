// Every case as its query alone, at both sizes, by mitata: `bun bench/reads/queries.ts`. Then what each query reads.

import { measure as timesOf } from 'mitata'
import type { Sql } from '../../src/database/client.ts'
import { type BenchOptions, type BenchOrg, benchOptions, withBenchData } from '../support/data.ts'
import { beyond, type Outcome, printOutcomes } from '../support/table.ts'
import { CASES } from './cases.ts'
import { printReads } from './rows-read.ts'

/** PostgreSQL decides after 5 runs whether a prepared statement keeps one plan. */
const WARM_UP = 12
/** The least that mitata takes. */
const SAMPLES = 12

async function measure(
  sql: Sql,
  orgs: [BenchOrg, BenchOrg],
  { rounds, sliceMs, smoke }: BenchOptions,
): Promise<Outcome[]> {
  const warmUp = smoke ? 0 : WARM_UP
  const limits = { min_cpu_time: sliceMs * 1e6, min_samples: smoke ? 1 : SAMPLES }
  for (const { query } of CASES) {
    for (const org of orgs) for (let i = 0; i < warmUp; i += 1) await query(sql, org)
  }
  const medians = new Map<string, number>()
  // twice, in reverse order the second time: other load of the machine must not fall on one size alone
  for (const turn of [orgs, orgs.toReversed()].slice(0, rounds)) {
    for (const { name, query } of CASES) {
      for (const org of turn) {
        const { p50 } = await timesOf(() => query(sql, org), { ...limits })
        const alias = aliasOf(name, org)
        medians.set(alias, Math.min(p50 / 1e6, medians.get(alias) ?? Number.POSITIVE_INFINITY))
      }
    }
  }
  return CASES.map(({ name, limit }) => {
    const [small = Number.NaN, big = Number.NaN] = orgs.map((org) => medians.get(aliasOf(name, org)))
    return { name, small, big, ratio: big / small, limit }
  })
}

const aliasOf = (name: string, org: BenchOrg) => `${name}, ${org.name}`

const options = benchOptions()
const failures = await withBenchData(options, async (sql, orgs) => {
  const outcomes = await measure(sql, orgs, options)
  printOutcomes('queries: ms, the lower of two medians', [orgs[0].name, orgs[1].name], outcomes, 3)
  const tooMuch = await printReads(sql, orgs[1])
  return beyond(outcomes).length + tooMuch
})
process.exit(options.check && failures > 0 ? 1 : 0)
