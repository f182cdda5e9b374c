// Every case as its query alone, at both sizes, by mitata: `bun bench/queries.ts`. Then what each query reads.

import { bench, run, summary } from 'mitata'
import type { Sql } from '../src/db/client.ts'
import { CASES } from './cases.ts'
import { type BenchOrg, benchOptions, withBenchData } from './data.ts'
import { printReads } from './reads.ts'
import { beyond, type Outcome, printOutcomes } from './table.ts'

/** PostgreSQL decides after 5 runs whether a prepared statement keeps one plan. */
const WARM_UP = 12

async function measure(sql: Sql, orgs: [BenchOrg, BenchOrg]): Promise<Outcome[]> {
  for (const { query } of CASES) {
    for (const org of orgs) for (let i = 0; i < WARM_UP; i += 1) await query(sql, org)
  }
  for (const { name, query } of CASES) {
    summary(() => {
      for (const org of orgs) bench(`${name}, ${org.name}`, () => query(sql, org))
    })
  }
  const { benchmarks } = await run({ throw: true })
  const p50 = new Map(
    benchmarks.map(({ runs: [first], alias }) => [alias, (first?.stats?.p50 ?? Number.NaN) / 1e6]),
  )
  const [small, big] = orgs
  return CASES.map(({ name, limit }) => {
    const smallMs = p50.get(`${name}, ${small.name}`) ?? Number.NaN
    const bigMs = p50.get(`${name}, ${big.name}`) ?? Number.NaN
    return { name, small: smallMs, big: bigMs, ratio: bigMs / smallMs, limit }
  })
}

const options = benchOptions()
const failures = await withBenchData(options, async (sql, orgs) => {
  const outcomes = await measure(sql, orgs)
  printOutcomes('queries: median ms', [orgs[0].name, orgs[1].name], outcomes, 3)
  const tooMuch = await printReads(sql, orgs[1])
  return beyond(outcomes).length + tooMuch
})
process.exit(options.check && failures > 0 ? 1 : 0)
