import { chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../ports.ts'

// Debian's haproxy and pgbouncer, with the configuration of docs/scaling.md.

const PAGE = join(import.meta.dir, '../../../docs/scaling.md')
/** nobody: PgBouncer refuses to run as root. */
const UNPRIVILEGED = 65_534

/** The block of the page that begins with this line. */
export async function blockOf(line: string, language = ''): Promise<string> {
  const page = await Bun.file(PAGE).text()
  const block = page
    .split('```')
    .find((text, index) => index % 2 === 1 && text.startsWith(`${language}\n${line}\n`))
  if (block === undefined) throw new Error(`docs/scaling.md has no block ${line}`)
  return block.slice(language.length)
}

export interface RunningProxy {
  port: number
  stop(): Promise<void>
  /** Starts it again on its port, once it was stopped. */
  again(): Promise<RunningProxy>
}

/** Starts haproxy in front of instances on `ports`, three of them. */
export async function startHaproxy(folder: string, ports: readonly number[]): Promise<RunningProxy> {
  const port = freePort()
  const block = await blockOf('# haproxy.cfg')
  const text = [8080, 8081, 8082, 8083].reduce(
    (config, documented, index) =>
      config.replace(`127.0.0.1:${documented}`, `127.0.0.1:${[port, ...ports][index]}`),
    block,
  )
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, text)
  return await start(['haproxy', '-db', '-f', file], port)
}

interface Upstream {
  /** A name, or the folder of PostgreSQL's socket. */
  host: string
  port: number
  /** Left out of the documented configuration. */
  without?: string
}

/** Starts PgBouncer in front of a PostgreSQL of this machine; everybody is let in as `postgres`. */
export async function startPgBouncer(
  folder: string,
  { host, port: upstreamPort, without }: Upstream,
): Promise<RunningProxy> {
  const port = freePort()
  const text = (await blockOf('; pgbouncer.ini'))
    .replace(
      'cloud_analytics = host=127.0.0.1 port=5432',
      `* = host=${host} port=${upstreamPort} user=postgres`,
    )
    .replace('listen_port = 6432', `listen_port = ${port}\nunix_socket_dir =`)
    .replace('auth_type = scram-sha-256', 'auth_type = any')
    .replace('auth_file = userlist.txt\n', '')
    .split('\n')
    .filter((line) => without === undefined || !line.startsWith(without))
    .join('\n')
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, text)
  if (process.getuid?.() !== 0) return await start(['pgbouncer', '--quiet', file], port)
  // whoever may open the socket
  const uid = (host.startsWith('/') && statSync(host).uid) || UNPRIVILEGED
  for (const path of [folder, file]) chownSync(path, uid, uid)
  return await start(
    ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', 'pgbouncer', '--quiet', file],
    port,
  )
}

/** Starts a program and waits until it listens on the port. */
async function start(cmd: string[], port: number): Promise<RunningProxy> {
  const child = Bun.spawn({ cmd, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = Promise.all([child.stdout.text(), child.stderr.text()])
  const isUp = async () => {
    try {
      const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
      socket.end()
      return true
    } catch {
      return false
    }
  }
  while (!(await isUp())) {
    if (child.exitCode !== null)
      throw new Error(`${cmd[0]} ended with ${child.exitCode}: ${(await output).join('')}`)
    await Bun.sleep(20)
  }
  return {
    port,
    again: () => start(cmd, port),
    async stop() {
      // the signal does not wait: connections of the programs are still open
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
