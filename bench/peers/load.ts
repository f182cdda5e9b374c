import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadPlan, type LoadResult, loadApart } from '../support/http-load.ts'

// Requests as fast as a server answers them: by wrk where it is installed, which takes least of the processor that it
// shares with the server, else by the generator of this repository. Only this machine is asked.

export const GENERATOR = Bun.which('wrk') === null ? 'bench/support/http-load.ts' : 'wrk'

/** Runs `plan`; `bytes` is 0 with wrk. Throws when a response is not 200. */
export const load = (plan: LoadPlan): Promise<LoadResult> =>
  GENERATOR === 'wrk' ? loadByWrk(plan) : loadApart(plan)

async function loadByWrk({ port, paths, headers, connections, seconds }: LoadPlan): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'wrk-'))
  const script = join(folder, 'paths.lua')
  writeFileSync(
    script,
    `local paths = { ${paths.map((path) => JSON.stringify(path)).join(', ')} }
local i = 0
request = function()
  i = i % #paths + 1
  return wrk.format('GET', paths[i])
end
done = function(summary, latency)
  io.write(string.format('RESULT %d %d %d %d %d\\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout))
end
`,
  )
  const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const child = Bun.spawn(
    [
      'wrk',
      '--timeout',
      '30s',
      '-t1',
      `-c${connections}`,
      // whole seconds only; it ends at SIGINT with the results until then
      `-d${Math.ceil(seconds)}s`,
      '-s',
      script,
      ...named,
      `http://127.0.0.1:${port}`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  const early = seconds < 1 ? setTimeout(() => child.kill('SIGINT'), seconds * 1_000) : undefined
  const output = await new Response(child.stdout).text()
  clearTimeout(early)
  rmSync(folder, { recursive: true })
  const [requests, durationUs, p50Us, p99Us, errors] = (/RESULT ([\d ]+)/.exec(output)?.[1] ?? '')
    .split(' ')
    .map(Number)
  if (requests === undefined || durationUs === undefined || p50Us === undefined || p99Us === undefined)
    throw new Error(`wrk gave no result: ${output}`)
  if (errors !== 0) throw new Error(`${errors} of ${requests} requests failed: ${output}`)
  return {
    requests,
    perSecond: requests / (durationUs / 1e6),
    p50Ms: p50Us / 1e3,
    p99Ms: p99Us / 1e3,
    bytes: 0,
  }
}
