// Every case over HTTP, by the built executable: `bun run build && bun bench/reads/http.ts`. One fresh
// process; all cases are warmed up; then each round measures every case at both sizes, the smaller or the
// larger first in turn. Prints the median of the rounds, and the rounds.

import { statSync } from 'node:fs'
import { createKey, revokeKey } from '../../src/accounts/keys/queries.ts'
import { type BenchOptions, type BenchOrg, benchOptions, withBenchData } from '../support/data.ts'
import { ask, load, type Measured } from '../support/load.ts'
import { EXECUTABLE, type Memory, memoryOf, startProgram } from '../support/program.ts'
import { beyond, median, type Outcome, print, printColumns, printOutcomes } from '../support/table.ts'
import type { Case } from './case.ts'
import { CASES } from './cases.ts'

const CONNECTIONS = 8
const WARM_UP = 30
/** Time after which the worker and the pools are idle. */
const IDLE_MS = 3_000

interface KeyedOrg extends BenchOrg {
  key: string
  keyId: string
}

type Load = 'one' | 'many'
/** The results of each round, by case, size and load. */
type Rounds = Map<string, Measured[]>

const roundsKey = (name: string, org: BenchOrg, kind: Load) => `${name} ${org.name} ${kind}`

async function measure(
  url: string,
  orgs: readonly KeyedOrg[],
  { rounds, sliceMs, smoke }: BenchOptions,
): Promise<Rounds> {
  const targetOf = (org: KeyedOrg, { path }: Case) => ({ base: url, path: path(org), key: org.key })
  const warmUp = smoke ? 0 : WARM_UP
  for (const one of CASES) {
    for (const org of orgs) for (let i = 0; i < warmUp; i += 1) await ask(targetOf(org, one))
  }
  const all: Rounds = new Map()
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, one] of CASES.entries()) {
      for (const org of (round + index) % 2 === 0 ? orgs : orgs.toReversed()) {
        for (const kind of ['one', 'many'] as const) {
          const measured = await load(targetOf(org, one), kind === 'one' ? 1 : CONNECTIONS, sliceMs)
          const key = roundsKey(one.name, org, kind)
          all.set(key, [...(all.get(key) ?? []), measured])
        }
      }
    }
  }
  return all
}

/** Medians of the rounds, and the factor by which the larger size is worse: longer times, or lower rates. */
function outcomesOf(
  rounds: Rounds,
  [small, big]: readonly [BenchOrg, BenchOrg],
  kind: Load,
  value: (measured: Measured) => number,
): Outcome[] {
  return CASES.map(({ name, limit }) => {
    const of = (org: BenchOrg) => median((rounds.get(roundsKey(name, org, kind)) ?? []).map(value))
    const [atSmall, atBig] = [of(small), of(big)]
    const ratio = kind === 'one' ? atBig / atSmall : atSmall / atBig
    return { name, small: atSmall, big: atBig, ratio, limit }
  })
}

function printRounds(rounds: Rounds, orgs: readonly BenchOrg[]): void {
  print('\nrounds: p50 ms on 1 connection · requests a second on 8')
  const cells = (name: string, org: BenchOrg) => {
    const of = (kind: Load) => rounds.get(roundsKey(name, org, kind)) ?? []
    return [
      of('one')
        .map(({ p50Ms }) => p50Ms.toFixed(2))
        .join(' '),
      of('many')
        .map(({ perSecond }) => perSecond.toFixed(0))
        .join(' '),
    ]
  }
  printColumns(CASES.flatMap(({ name }) => orgs.map((org) => [`${name}, ${org.name}`, ...cells(name, org)])))
}

const memoryRow = (name: string, { processes, rss, pss }: Memory) => [
  name,
  String(processes),
  rss.toFixed(0),
  pss.toFixed(0),
]

function printMemory(title: string, pid: number): void {
  const { program, postgres } = memoryOf(pid)
  print(`\nmemory ${title}, MiB`)
  printColumns([
    ['', 'processes', 'RSS', 'PSS'],
    memoryRow('program', program),
    memoryRow('its PostgreSQL', postgres),
  ])
}

const options = benchOptions()

/** The organizations, each with a key that is revoked at the end. */
const orgs = await withBenchData(options, async (sql, [small, big]) => {
  const withKey = async (org: BenchOrg): Promise<KeyedOrg> => {
    const { id, key } = await createKey(sql, org.id, { name: 'benchmark', scopes: ['read'] })
    return { ...org, key, keyId: id }
  }
  return [await withKey(small), await withKey(big)] as const
})
// without the cache: what a request costs when nobody has asked it before
const program = await startProgram(options.dataDir, { CACHE_BYTES: '0' })
let rounds: Rounds
try {
  if (!options.smoke) await Bun.sleep(IDLE_MS)
  printMemory('idle after the start', program.pid)
  rounds = await measure(program.url, orgs, options)
  printMemory('after the load', program.pid)
} finally {
  const stopMs = await program.stop()
  print(
    `\nstart to the first 200 of /health ${program.readyMs.toFixed(0)} ms, SIGTERM to the end ${stopMs.toFixed(0)} ms`,
  )
  print(`executable ${(statSync(EXECUTABLE).size / 1e6).toFixed(1)} MB`)
  await withBenchData(options, async (sql) => {
    for (const { keyId } of orgs) await revokeKey(sql, keyId)
  })
}
printRounds(rounds, orgs)
const names = [orgs[0].name, orgs[1].name] as const
const latency = outcomesOf(rounds, orgs, 'one', ({ p50Ms }) => p50Ms)
const rate = outcomesOf(rounds, orgs, 'many', ({ perSecond }) => perSecond)
printOutcomes('HTTP, 1 connection: p50 ms', names, latency, 2)
const p99 = outcomesOf(rounds, orgs, 'one', ({ p99Ms }) => p99Ms)
printOutcomes(
  'HTTP, 1 connection: p99 ms',
  names,
  p99.map((outcome) => ({ ...outcome, limit: null })),
  2,
)
printOutcomes(`HTTP, ${CONNECTIONS} connections: requests a second`, names, rate, 0)
process.exit(options.check && beyond([...latency, ...rate]).length > 0 ? 1 : 0)
