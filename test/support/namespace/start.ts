import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readUntil } from '../cli.ts'
import { RECEIVER, TLS_NAME } from './addresses.ts'
import type { Names } from './dns.ts'
import type { SeenOutside } from './receiver.ts'
import type { SeenInside } from './server.ts'

// Starts the program in namespaces of its own, whose network contains only the test's receivers.

const BUILT = resolve(import.meta.dir, '../../../dist/cloud-analytics')
/** Starts the program: the executable if it is built, else the sources. */
const PROGRAM = existsSync(BUILT)
  ? [BUILT]
  : [process.execPath, resolve(import.meta.dir, '../../../src/main.ts')]

const isRoot = process.getuid?.() === 0
/** Without root in a user namespace that keeps the user id, since PostgreSQL refuses to run as root. */
const UNSHARE = [
  'unshare',
  ...(isRoot ? [] : ['--user', '--map-current-user', '--keep-caps']),
  '--net',
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
]
/** Commands that the set-up needs. */
const PROBE = [
  'ip link add probe0 type veth peer name probe1',
  'ip -6 addr add 2606:2800:220:1::10/64 dev probe0',
  'mount --bind /etc/hosts /etc/resolv.conf',
  'unshare --net true',
].join(' && ')

/** The reason why namespaces cannot be created here; undefined when they can. */
export function whyNoNamespaces(): string | undefined {
  const missing = ['unshare', 'ip', 'mount', 'sh'].filter((name) => Bun.which(name) === null)
  if (missing.length > 0) return `there is no ${missing.join(', no ')}`
  const { success, stderr } = Bun.spawnSync([...UNSHARE, 'sh', '-c', PROBE])
  return success ? undefined : `this user may not make them: ${stderr.toString().trim()}`
}

/** Runs openssl; false where there is none. */
function openssl(folder: string, args: readonly string[], stdin = ''): boolean {
  if (Bun.which('openssl') === null) return false
  const { success, stderr } = Bun.spawnSync(['openssl', ...args], { cwd: folder, stdin: new Blob([stdin]) })
  if (!success) throw new Error(`openssl ${args.join(' ')}: ${stderr.toString()}`)
  return true
}

const selfSigned = (name: string, subject: string, authority: boolean) => [
  ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
  ...['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${subject}`],
  ...['-addext', `basicConstraints=critical,CA:${authority ? 'TRUE' : 'FALSE'}`],
  ...(authority ? [] : ['-addext', `subjectAltName=DNS:${TLS_NAME}`]),
]

/**
 * Creates an authority, a certificate signed by it and a self-signed one for `TLS_NAME`; false without
 * openssl.
 */
export function makeCertificates(folder: string): boolean {
  const ask =
    'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout valid.key -out valid.csr -subj /CN=x'
  const sign = 'x509 -req -in valid.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2'
  return (
    openssl(folder, selfSigned('authority', 'authority of a test', true)) &&
    openssl(folder, selfSigned('self-signed', TLS_NAME, false)) &&
    openssl(folder, ask.split(' ')) &&
    openssl(
      folder,
      [...sign.split(' '), '-extfile', '-', '-out', 'valid.pem'],
      `subjectAltName=DNS:${TLS_NAME}\n`,
    )
  )
}

export interface Isolated {
  /** A request to the API, as from the server's own machine. */
  api(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  seen(): Promise<SeenOutside & { own: SeenInside }>
  forget(): Promise<void>
  /** Sets the names that DNS responds with. */
  setNames(names: Names): Promise<void>
  /** The addresses that can be reached from the server's namespace. */
  reach(): Promise<string[]>
  /** Ends all processes in the namespaces; returns the exit code of `serve`. */
  end(): Promise<number>
}

async function command(args: readonly string[], env: Record<string, string>): Promise<unknown> {
  const child = Bun.spawn([...PROGRAM, ...args, '--json'], { env, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: ${err}`)
  return JSON.parse(out)
}

const ask = (
  socket: string,
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
) =>
  // a proxy of this machine is not used
  fetch(`http://server${path}`, { ...init, unix: socket, proxy: '' })

/** Starts `serve` with an organization, a key, and these settings beside DATA_DIR. */
export async function startIsolated(folder: string, settings: Record<string, string>): Promise<Isolated> {
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  await Bun.write(join(folder, 'resolv.conf'), `nameserver ${RECEIVER.dns}\n`)
  const plain = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    LOG_LEVEL: 'warn',
    DATA_DIR: dataDir,
  }
  await command(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'], plain)
  const made = await command(
    ['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,write,webhooks'],
    plain,
  )
  const { key } = made as { key: string }
  const child = Bun.spawn(
    [...UNSHARE, process.execPath, join(import.meta.dir, 'server.ts'), folder, ...PROGRAM],
    { env: { ...plain, ...settings }, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  )
  await readUntil(child.stdout, 'ready').catch((error: unknown) => {
    // ends its namespaces too
    child.kill('SIGKILL')
    throw error
  })
  const [api, inside, outside] = ['api.sock', 'inside.sock', 'receiver.sock'].map((name) =>
    join(folder, name),
  )
  if (api === undefined || inside === undefined || outside === undefined) throw new Error('no sockets')
  return {
    async api(method, path, body) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const answer = await ask(api, path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
    },
    async seen() {
      const [seen, own] = await Promise.all([ask(outside, '/seen'), ask(inside, '/seen')])
      return { ...((await seen.json()) as SeenOutside), own: (await own.json()) as SeenInside }
    },
    async forget() {
      await Promise.all([ask(outside, '/forget'), ask(inside, '/forget')])
    },
    async setNames(names) {
      await ask(outside, '/names', { method: 'POST', body: JSON.stringify(names) })
    },
    reach: async () => (await (await ask(inside, '/reach')).json()) as string[],
    async end() {
      child.stdin.end()
      return await child.exited
    },
  }
}
