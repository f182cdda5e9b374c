// Restores a backup of the benchmarks' data with 100,000 deliveries, by the built executable: `bun run build && bun
// bench/backup/restore.ts`. Prints times and memory, and compares every response with the original's.

import { join } from 'node:path'
import { benchOptions } from '../support/data.ts'
import { print } from '../support/table.ts'
import { command, withPrepared, withProgram } from './prepare.ts'

const options = benchOptions()
await withPrepared(options, async ({ key, scratch, paths }) => {
  const file = join(scratch, 'backup.zst')
  const restored = join(scratch, 'restored')
  const ask = async (url: string, path: string) => {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    return `${response.status} ${await response.text()}`
  }
  const backup = await command(['backup', file, '--with-secret-key'], options.dataDir)
  const restore = await command(['restore', file, '--trust'], restored)
  print(
    `backup ${backup.seconds.toFixed(1)} s; restore of ${restore.result.rows} rows ${restore.seconds.toFixed(1)} s, memory at most ` +
      `${restore.peakMiB.toFixed(0)} MiB`,
  )
  // both at the same time, since some periods end now
  const different = await withProgram(options.dataDir, (original) =>
    withProgram(restored, async (copy) => {
      const found: string[] = []
      for (const path of paths) {
        const [one, other] = await Promise.all([ask(original.url, path), ask(copy.url, path)])
        if (one !== other) found.push(path)
      }
      return found
    }),
  )
  print([`${paths.length} responses compared, ${different.length} differ`, ...different].join('\n  '))
  if (different.length > 0) process.exitCode = 1
  const verify = await command(['backup', 'verify', file], restored)
  print(`verify ${verify.seconds.toFixed(1)} s, memory at most ${verify.peakMiB.toFixed(0)} MiB`)
})
