// Processor time and memory of reading a repository's commits with and without the sessions that wrote one in ten of them:
// `bun run build && bun bench/commits/attribution.ts`; `--commits 600 --rounds 1` only shows that it works.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Cost, runCommand } from '../intake/measure.ts'
import { sizeOf } from '../intake/transcripts.ts'
import { EXECUTABLE } from '../support/program.ts'
import { median, print, printColumns } from '../support/table.ts'
import { makeRepository } from './repository.ts'

const { values } = parseArgs({
  options: {
    commits: { type: 'string', default: '60000' },
    rounds: { type: 'string', default: '3' },
    executable: { type: 'string', default: EXECUTABLE },
    /** The repository is kept there for the next run; it has the commits of the first one. */
    'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench-commits') },
  },
})
if (!existsSync(values.executable)) throw new Error('there is no executable: run `bun run build` first')
const dataDir = resolve(values['data-dir'], values.commits)

const { repository, transcripts, sessions } = await makeRepository(dataDir, Number(values.commits))
const megabytes = Math.round(sizeOf(transcripts).bytes / 1e6)
print(`${values.commits} commits, ${sessions} sessions of ${megabytes} MB`)

const none = join(dataDir, 'none')
const read = (path: string, agents: string) => {
  const command = [values.executable, 'sync', path, '--dry-run', '--quiet', '--user', 'dev@example.com']
  return runCommand(command, { env: { HOME: none, CLAUDE_CONFIG_DIR: agents } })
}
const cases: Record<string, () => Promise<Cost & { output: string }>> = {
  'the commits, without sessions': () => read(repository, none),
  'the transcripts alone': () => read(transcripts, none),
  'the commits, attributed to sessions': () => read(repository, join(dataDir, 'claude')),
}
const costs = new Map<string, Cost[]>(Object.keys(cases).map((name) => [name, []]))
for (let round = 0; round < Number(values.rounds); round += 1)
  for (const [name, run] of Object.entries(cases)) {
    const { output, ...cost } = await run()
    if (output === '') throw new Error(`${name}: no records`)
    costs.get(name)?.push(cost)
  }
printColumns([
  ['', 'processor s', 'peak MiB'],
  ...[...costs].map(([name, all]) => [
    name,
    median(all.map(({ cpuSeconds }) => cpuSeconds)).toFixed(1),
    median(all.map(({ peakMiB }) => peakMiB)).toFixed(0),
  ]),
])
