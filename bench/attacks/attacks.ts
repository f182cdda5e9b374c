// Measures the effect of attacks by one organization on other organizations and the process: `bun
// bench/attacks/attacks.ts`, with `--executable` another build, `--seconds` the length of each attack and `--only` a
// part of the attacks' names.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Attack,
  computedRisks,
  history,
  repeatedSecret,
  tokenBeginnings,
  tooMuch,
} from '../../test/support/attacks.ts'
import { EXECUTABLE, memoryOf, startProgram } from '../support/program.ts'
import { quantile } from '../support/table.ts'

const { values } = parseArgs({
  options: {
    executable: { type: 'string', default: EXECUTABLE },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
  },
})
const ATTACKERS = 4
/** Its own requests may take this long after the attack. */
const REST_MS = 60_000

const command = (dataDir: string, ...args: string[]) => {
  const { stdout } = Bun.spawnSync([values.executable, ...args, '--json', '--data-dir', dataDir])
  return JSON.parse(stdout.toString()) as { key: string }
}

async function measure(name: string, attacks: readonly Attack[], before: readonly Attack[]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'cloud-analytics-attacks-'))
  const program = await startProgram(dataDir, {}, values.executable)
  const keyOf = (slug: string) => {
    command(dataDir, 'org', 'create', '--slug', slug, '--name', slug, '--plan', 'cloud_enterprise')
    return command(dataDir, 'key', 'create', '--org', slug, '--name', 'k', '--scopes', 'read,write').key
  }
  const attacker = keyOf('attacker')
  const other = { authorization: `Bearer ${keyOf('other')}` }
  const abort = new AbortController()
  const send = async ({ body, type }: Attack) => {
    const headers = { authorization: `Bearer ${attacker}`, 'content-type': type, 'content-encoding': 'gzip' }
    const { signal } = abort
    const start = performance.now()
    const status = await fetch(`${program.url}/v1/sync`, { method: 'POST', headers, body, signal }).then(
      async (response) => response.text().then(() => response.status),
      () => 0,
    )
    return { status, ms: performance.now() - start }
  }
  for (const each of before) await send(each)
  await Bun.sleep(1_000)
  const idle = memoryOf(program.pid).program.rss
  const end = performance.now() + Number(values.seconds) * 1_000
  const times: Record<string, number[]> = { '/live': [], '/v1/sessions?per_page=50': [] }
  let failures = 0
  let memory = 0
  const ask = async (path: string) => {
    while (performance.now() < end) {
      const start = performance.now()
      const status = await fetch(`${program.url}${path}`, {
        headers: other,
        signal: AbortSignal.timeout(40_000),
      }).then(
        async (response) => response.text().then(() => response.status),
        () => 0,
      )
      times[path]?.push(performance.now() - start)
      if (status !== 200) failures += 1
      await Bun.sleep(5)
    }
  }
  const watch = async () => {
    while (performance.now() < end) {
      memory = Math.max(memory, memoryOf(program.pid).program.rss)
      await Bun.sleep(100)
    }
  }
  const statuses: Record<string, number> = {}
  let slowest = 0
  let next = 0
  const strike = async () => {
    while (performance.now() < end) {
      const chosen = attacks[next++ % attacks.length]
      if (chosen === undefined) return
      const { status, ms } = await send(chosen)
      statuses[status] = (statuses[status] ?? 0) + 1
      slowest = Math.max(slowest, ms)
    }
  }
  const striking = Promise.all(Array.from({ length: ATTACKERS }, strike))
  await Promise.all([...Object.keys(times).map(ask), watch()])
  const stopping = program.stop().catch((error: unknown) => String(error))
  const stopMs = await stopping
  setTimeout(() => abort.abort(), REST_MS).unref()
  await striking
  rmSync(dataDir, { recursive: true, force: true })
  const show = (list: readonly number[]) => ({
    count: list.length,
    p50: Math.round(quantile(list, 0.5)),
    p99: Math.round(quantile(list, 0.99)),
    max: Math.round(Math.max(...list)),
  })
  const shown = Object.fromEntries(Object.entries(times).map(([path, list]) => [path, show(list)]))
  process.stdout.write(
    `${JSON.stringify({
      attack: name,
      ...shown,
      failures,
      idleMib: Math.round(idle),
      mostMib: Math.round(memory),
      stopMs,
      statuses,
      slowestAttackMs: Math.round(slowest),
    })}\n`,
  )
}

const rounds = (count: number) => Array.from({ length: 200 }, (_, round) => computedRisks(count, round))
const ALL: [string, () => Attack[], () => Attack[]][] = [
  ['one secret many times', () => [repeatedSecret(1), repeatedSecret(10)], () => []],
  ['beginnings of tokens', () => [tokenBeginnings()], () => []],
  ['computed pull requests', () => rounds(1_000), () => [history()]],
  ['millions of values', tooMuch, () => []],
]
for (const [name, attacks, before] of ALL) {
  if (name.includes(values.only)) await measure(name, attacks(), before())
}
process.exit(0)
