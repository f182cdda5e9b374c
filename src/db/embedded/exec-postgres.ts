// PostgreSQL must not outlive us, even when we are killed with SIGKILL. Linux can send a child a signal when its
// parent dies, but only a process can ask that for itself. So we start a copy of our own program, which asks for it,
// becomes another user if need be, and then turns into postgres by execve: same pid, no process more.

import { dlopen, FFIType, ptr } from 'bun:ffi'
import { fileURLToPath } from 'node:url'

/** The environment variable that makes our program become postgres; its value is `ExecRequest` as JSON. */
export const EXEC_POSTGRES = 'CLOUD_ANALYTICS_EXEC_POSTGRES'

export interface ExecRequest {
  /** argv of postgres, the first its path. */
  command: string[]
  /** The pid of the one who asks. */
  parent: number
  /** Whom to run as; undefined: as we are. */
  user?: { uid: number; gid: number }
}

/** Exit codes of a program that did not become postgres. */
export const EXIT_CANNOT_SWITCH_USER = 125
export const EXIT_CANNOT_EXECUTE = 126

const PR_SET_PDEATHSIG = 1
const SIGINT = 2

/** The command line and environment that run `execPostgres` in a new process, compiled or from source. */
export function execCommand(request: ExecRequest): { cmd: string[]; env: Record<string, string> } {
  const source = Bun.isStandaloneExecutable ? [] : [fileURLToPath(import.meta.url)]
  return {
    cmd: [process.execPath, ...source],
    env: { LC_ALL: 'C', [EXEC_POSTGRES]: JSON.stringify(request) },
  }
}

/**
 * Turns this process into the postgres that `EXEC_POSTGRES` asks for; never returns. `main` calls it before anything
 * else when that variable is set.
 */
export function execPostgres(): never {
  const { command, parent, user } = JSON.parse(process.env[EXEC_POSTGRES] ?? '') satisfies ExecRequest
  const { symbols: libc } = dlopen('libc.so.6', {
    setgroups: { args: [FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
    setgid: { args: [FFIType.u32], returns: FFIType.i32 },
    setuid: { args: [FFIType.u32], returns: FFIType.i32 },
    prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
    execve: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  })
  if (user !== undefined) {
    const switched =
      libc.setgroups(0, null) === 0 && libc.setgid(user.gid) === 0 && libc.setuid(user.uid) === 0
    if (!switched) fail(EXIT_CANNOT_SWITCH_USER, `cannot switch to uid ${user.uid}`)
  }
  // After setuid, which would clear it.
  libc.prctl(PR_SET_PDEATHSIG, SIGINT, 0, 0, 0)
  // The parent may have died before the line above; then nobody would ever send the signal.
  if (process.ppid !== parent) fail(EXIT_CANNOT_EXECUTE, 'the parent is gone')
  const [path = ''] = command
  const argv = pointers(command)
  const envp = pointers(['LC_ALL=C'])
  const pathText = cString(path)
  libc.execve(ptr(pathText), ptr(argv.table), ptr(envp.table))
  fail(EXIT_CANNOT_EXECUTE, `cannot execute ${path}`)
}

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

const cString = (text: string) => Buffer.from(`${text}\0`)

/** A null-terminated table of C strings; `texts` keeps them from being collected. */
function pointers(values: string[]): { table: BigUint64Array; texts: Buffer[] } {
  const texts = values.map(cString)
  return { table: new BigUint64Array([...texts.map((text) => BigInt(ptr(text))), 0n]), texts }
}

if (import.meta.main && !Bun.isStandaloneExecutable) execPostgres()
