// PostgreSQL must stop when this program ends, even by SIGKILL. Linux can send a process a signal when its
// parent dies, but only the process itself can request that. So this program starts a copy of itself, which
// requests the signal, changes its user if needed, and replaces itself by postgres with execve: the pid
// stays, and no further process is needed. macOS has no such signal: there PostgreSQL is started directly, and after
// a SIGKILL of this program it runs until the next start, which stops it (`stopStalePostmaster`).

import { dlopen, FFIType, ptr } from 'bun:ffi'
import { fileURLToPath } from 'node:url'
import type { SystemUser } from './system-user.ts'

/** The variable that makes this program execute postgres; its value is an `ExecRequest` as JSON. */
export const EXEC_POSTGRES = 'CLOUD_ANALYTICS_EXEC_POSTGRES'

interface ExecRequest {
  /** argv of postgres, the first its path. */
  command: string[]
  /** The pid of the process that starts the copy. */
  parent: number
  /** The user to run as; undefined: the same. */
  user?: SystemUser
}

/** Exit codes when postgres could not be executed. */
export const EXIT_CANNOT_SWITCH_USER = 125
export const EXIT_CANNOT_EXECUTE = 126

const PR_SET_PDEATHSIG = 1
const SIGINT = 2

/** Returns the command that starts PostgreSQL: on Linux a process that runs `execPostgres`, compiled or from source. */
export function execCommand(request: ExecRequest): {
  cmd: string[]
  env: Record<string, string>
  uid?: number
  gid?: number
} {
  if (process.platform !== 'linux') return { cmd: request.command, env: { LC_ALL: 'C' }, ...request.user }
  const source = Bun.isStandaloneExecutable ? [] : [fileURLToPath(import.meta.url)]
  return {
    cmd: [process.execPath, ...source],
    env: { LC_ALL: 'C', [EXEC_POSTGRES]: JSON.stringify(request) },
  }
}

/** Replaces this process by the postgres of the request in `EXEC_POSTGRES`; never returns. `main` calls it first. */
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
    const isSwitched =
      libc.setgroups(0, null) === 0 && libc.setgid(user.gid) === 0 && libc.setuid(user.uid) === 0
    if (!isSwitched) fail(EXIT_CANNOT_SWITCH_USER, `cannot switch to uid ${user.uid}`)
  }
  // this comes after setuid, which clears it
  libc.prctl(PR_SET_PDEATHSIG, SIGINT, 0, 0, 0)
  // if the parent died before the line above, the signal is never sent
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

/** A null-terminated array of pointers to C strings; `texts` keeps these from being garbage-collected. */
function pointers(values: string[]): { table: BigUint64Array; texts: Buffer[] } {
  const texts = values.map(cString)
  return { table: new BigUint64Array([...texts.map((text) => BigInt(ptr(text))), 0n]), texts }
}

if (import.meta.main && !Bun.isStandaloneExecutable) execPostgres()
