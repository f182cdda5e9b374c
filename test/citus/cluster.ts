// A Citus of a coordinator and workers on this machine, for tests and measurements:
// `bun test/citus/cluster.ts --dir /tmp/citus-cluster`. It needs a PostgreSQL that Citus was installed into (docs/scaling.md)
// and makes its clusters anew each time. The first line of its output is the value of TEST_CITUS_URLS; it runs until SIGINT,
// and restarts a worker at SIGUSR1.

import { chownSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** PostgreSQL refuses to run as root: it then runs as this user (nobody). */
const UNPRIVILEGED = 65_534

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    bin: { type: 'string', default: '/usr/lib/postgresql/15/bin' },
    /** The port of the coordinator; the workers have the ports after it. */
    port: { type: 'string', default: '9700' },
    workers: { type: 'string', default: '2' },
    shards: { type: 'string', default: '4' },
    /** Without fsync a commit costs nothing: for tests, not for measurements. */
    durable: { type: 'boolean', default: false },
  },
})
const { dir, bin } = values
if (dir === undefined) throw new Error('--dir names a folder for the clusters, which is emptied')
const isRoot = process.getuid?.() === 0
const asUser = isRoot
  ? ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups']
  : []

function run(command: string, ...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...asUser, join(bin, command), ...args], { cwd: dir ?? '/' })
  if (exitCode !== 0) throw new Error(`${command}: ${stderr}`)
}

rmSync(dir, { recursive: true, force: true })
mkdirSync(dir, { recursive: true })
if (isRoot) chownSync(dir, UNPRIVILEGED, UNPRIVILEGED)

const ports = Array.from({ length: Number(values.workers) + 1 }, (_, index) => Number(values.port) + index)
const dataOf = (port: number) => join(dir, `node-${port}`)
const serve = (port: number) => {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: dir,
    shared_preload_libraries: 'citus',
    // a transaction of several nodes is prepared on each of them
    max_prepared_transactions: '200',
    max_connections: '300',
    shared_buffers: '128MB',
    'citus.shard_count': values.shards,
    // the default asks for TLS between the nodes
    'citus.node_conninfo': 'sslmode=prefer',
    ...(values.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = Bun.file(`${dataOf(port)}.log`)
  return Bun.spawn([...asUser, join(bin, 'postgres'), '-D', dataOf(port), ...flags], {
    stdio: ['ignore', log, log],
    cwd: dir,
  })
}
const servers = ports.map((port) => {
  run(
    'initdb',
    `--pgdata=${dataOf(port)}`,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  )
  return serve(port)
})
let isStopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isStopping = true
    // a fast shutdown: connections are ended
    for (const server of servers) server.kill('SIGINT')
  })
}
// restarts the last worker, without a checkpoint, as after a failure
process.on('SIGUSR1', async () => {
  const last = servers.length - 1
  servers[last]?.kill('SIGQUIT')
  await servers[last]?.exited
  servers[last] = serve(ports[last] ?? 0)
})
for (const port of ports) {
  for (
    let left = 100;
    Bun.spawnSync([join(bin, 'pg_isready'), '-q', '-h', '127.0.0.1', '-p', String(port)]).exitCode !== 0;
    left -= 1
  ) {
    if (left === 0) throw new Error(`the server on port ${port} does not answer: see ${dir}/node-${port}.log`)
    await Bun.sleep(100)
  }
}
process.stdout.write(`${ports.map((port) => `postgres://postgres@127.0.0.1:${port}/postgres`).join(',')}\n`)
while (!isStopping) await Bun.sleep(200)
await Promise.all(servers.map(({ exited }) => exited))
