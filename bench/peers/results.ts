import { cpus } from 'node:os'
import { join } from 'node:path'

interface Row {
  title: string
  perSecond: number
  p50Ms: number
  raw: readonly number[]
}

interface Setting {
  org: string
  connections: number
  rounds: number
  seconds: number
  generator: string
}

const ROOT = join(import.meta.dir, '../..')
const ROW_HEIGHT = 26
const NAME_WIDTH = 280
const BAR_WIDTH = 420

/** The chapter of `bench/intake` begins here; it is kept. */
const INTAKE = '\n## Taking in\n'

/** Writes bench/RESULTS.md, and docs/benchmarks.svg for the README. */
export async function writeResults(rows: readonly Row[], setting: Setting): Promise<void> {
  const commit = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: ROOT })
    .stdout.toString()
    .trim()
  const known = await Bun.file(join(ROOT, 'bench/RESULTS.md')).text()
  const intake = known.includes(INTAKE) ? known.slice(known.indexOf(INTAKE)) : ''
  const date = new Date().toISOString().slice(0, 10)
  const table = rows.map(
    ({ title, perSecond, p50Ms, raw }) =>
      `| ${title} | ${perSecond.toFixed(0)} | ${p50Ms.toFixed(2)} | ${raw.map((value) => value.toFixed(0)).join(', ')} |`,
  )
  await Bun.write(
    join(ROOT, 'bench/RESULTS.md'),
    `# Results

Made by \`bun bench/peers/peers.ts --write\` on ${date} at ${commit}: ${setting.org} (a million sessions of 20 projects over
730 days), ${setting.connections} connections, median of ${setting.rounds} rounds of ${setting.seconds} s in alternating order, requests by ${setting.generator};
${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}, shared by client, server and PostgreSQL.

"hot" asks the same URL again and again, "cold" another range of days each time. The peers answer a page of the same table
with the same indexes; "no total" leaves out how many sessions match.

| | requests/s | p50 ms | rounds |
|---|---:|---:|---|
${table.join('\n')}
${intake}`,
  )
  await Bun.write(join(ROOT, 'docs/benchmarks.svg'), svgOf(rows))
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function svgOf(rows: readonly Row[]): string {
  const most = Math.max(...rows.map((row) => row.perSecond))
  const height = rows.length * ROW_HEIGHT + 20
  const width = NAME_WIDTH + BAR_WIDTH + 90
  const bars = rows.map(({ title, perSecond }, index) => {
    const y = 10 + index * ROW_HEIGHT
    const length = Math.max(1, (perSecond / most) * BAR_WIDTH)
    const isOurs = /^(hot|cold) /.test(title)
    return `<text x="${NAME_WIDTH - 8}" y="${y + 16}" text-anchor="end">${escaped(title)}</text>
<rect x="${NAME_WIDTH}" y="${y + 3}" width="${length.toFixed(1)}" height="18" rx="3" fill="${isOurs ? '#2f6feb' : '#8b949e'}"/>
<text x="${(NAME_WIDTH + length + 6).toFixed(1)}" y="${y + 16}">${Math.round(perSecond).toLocaleString('en')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Requests a second">
<title>Requests a second, more is better</title>
<style>text { font: 13px system-ui, sans-serif; fill: #57606a }</style>
${bars.join('\n')}
</svg>
`
}
