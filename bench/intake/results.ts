import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'

const FILE = join(import.meta.dir, '../RESULTS.md')
const HEADING = '\n## Taking in\n'

export interface Row {
  title: string
  /** Sessions or megabytes a second. */
  perSecond: number
  ratio: number
  cpuSeconds: number
  peakMiB: number
  raw: readonly number[]
}

interface Results {
  sessions: number
  rounds: number
  records: readonly Row[]
  transcripts: readonly Row[]
  /** The size of the transcripts. */
  size: string
}

/** Writes the chapter at the end of bench/RESULTS.md, in place of the one before. */
export async function writeResults({ sessions, rounds, records, transcripts, size }: Results): Promise<void> {
  const commit = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir })
    .stdout.toString()
    .trim()
  const text = await Bun.file(FILE).text()
  const kept = text.split(HEADING)[0]?.trimEnd()
  await Bun.write(
    FILE,
    `${kept}
${HEADING}
Made by \`bun bench/intake/intake.ts --write\` on ${new Date().toISOString().slice(0, 10)} at ${commit}: median of ${rounds} rounds,
${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'} shared by program and PostgreSQL, load average ${loadavg()[0]?.toFixed(1)}. CPU is that of
the program and of PostgreSQL; the peak is the program's.

${sessions} sessions of 20 projects over 730 days, from one file of NDJSON, and in requests of 10,000; COPY writes the same
rows, rollups included, from files into empty tables with the same indexes and constraints.

${tableOf('sessions/s', records)}

${size}, in the form of Claude Code's, made by \`bench/intake/transcripts.ts\`; files in memory.

${tableOf('MB/s', transcripts)}
`,
  )
}

const tableOf = (unit: string, rows: readonly Row[]): string =>
  [
    `| | ${unit} | ratio | CPU s | peak MiB | rounds |`,
    '|---|---:|---:|---:|---:|---|',
    ...rows.map(
      ({ title, perSecond, ratio, cpuSeconds, peakMiB, raw }) =>
        `| ${title} | ${perSecond.toFixed(0)} | ${ratio.toFixed(2)} | ${cpuSeconds.toFixed(1)} | ${peakMiB === 0 ? '' : peakMiB.toFixed(0)} | ${raw.map((value) => value.toFixed(0)).join(', ')} |`,
    ),
  ].join('\n')
