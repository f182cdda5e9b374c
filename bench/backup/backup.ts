// A backup of the benchmarks' data with 100,000 deliveries, by the built executable: `bun run build && bun
// bench/backup/backup.ts`. Prints time, size and memory, and the p99 of reads alone and beside a backup, in turn.

import { join } from 'node:path'
import { benchOptions } from '../support/data.ts'
import { loadApart } from '../support/http-load.ts'
import { median, print, printColumns } from '../support/table.ts'
import { command, withPrepared, withProgram } from './prepare.ts'

const CONNECTIONS = 8
const WARM_UP_S = 3
const MIN_LOAD_S = 3
const MAX_LOAD_S = 30
/** The p99 of reads may grow by this factor beside a backup. */
const LIMIT = 2

const options = benchOptions()
await withPrepared(options, async ({ key, scratch, reads }) => {
  const backup = () => command(['backup', join(scratch, 'backup.zst')], options.dataDir)
  await withProgram(options.dataDir, async ({ url }) => {
    const { seconds, peakMiB, result } = await backup()
    const textBytes = result.tables.reduce((sum: number, table: { bytes: number }) => sum + table.bytes, 0)
    print(
      `backup of ${result.rows} rows, ${(textBytes / 1e6).toFixed(0)} MB as text, beside an idle server: ` +
        `${seconds.toFixed(1)} s, ${(result.bytes / 1e6).toFixed(1)} MB, memory at most ${peakMiB.toFixed(0)} MiB`,
    )
    const plan = {
      port: Number(new URL(url).port),
      paths: reads,
      headers: { authorization: `Bearer ${key}` },
      connections: CONNECTIONS,
      seconds: Math.min(MAX_LOAD_S, Math.max(MIN_LOAD_S, Math.floor(seconds))),
    }
    await loadApart({ ...plan, seconds: WARM_UP_S })
    const alone: number[] = []
    const beside: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      const without = await loadApart(plan)
      const made = backup()
      const during = await loadApart(plan)
      const besideS = (await made).seconds
      alone.push(without.p99Ms)
      beside.push(during.p99Ms)
      const row = (name: string, { perSecond, p50Ms, p99Ms }: typeof during) => [
        name,
        perSecond.toFixed(0),
        p50Ms.toFixed(2),
        p99Ms.toFixed(2),
      ]
      printColumns([
        [`reads on ${CONNECTIONS} connections for ${plan.seconds} s`, 'requests/s', 'p50 ms', 'p99 ms'],
        row('alone', without),
        row(`beside a backup of ${besideS.toFixed(1)} s`, during),
      ])
    }
    const factor = median(beside) / median(alone)
    print(`p99 beside a backup: ${factor.toFixed(2)} times that alone (medians of the rounds)`)
    if (options.check && factor > LIMIT) process.exitCode = 1
  })
})
