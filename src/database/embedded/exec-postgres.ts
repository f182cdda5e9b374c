// PostgreSQL must stop when this program ends, even by SIGKILL. Linux can send a process a signal when its
// parent dies, but only the process itself can request that. So this program starts a copy of itself, which
// requests the signal, changes its user if needed, and replaces itself by postgres with execve: the pid
// stays, and no further process is needed. macOS has no such signal: there PostgreSQL is started directly, and after
// a SIGKILL of this program it runs until the next start, which stops it (`stopStalePostmaster`).

import { dlopen, FFIType } from 'bun:ffi'
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
    prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
  })
  const [path = ''] = command
  let [code, problem] = [EXIT_CANNOT_SWITCH_USER, `cannot switch to uid ${user?.uid}`]
  try {
    if (user !== undefined) {
      process.setgroups?.([])
      process.setgid?.(user.gid)
      process.setuid?.(user.uid)
    }
    // this comes after setuid, which clears it
    libc.prctl(PR_SET_PDEATHSIG, SIGINT, 0, 0, 0)
    ;[code, problem] = [EXIT_CANNOT_EXECUTE, `cannot execute ${path}`]
    // if the parent died before prctl, the signal is never sent
    if (process.ppid === parent) process.execve?.(path, command, { LC_ALL: 'C' })
    problem = 'the parent is gone'
  } catch {
    // `problem` says it
  }
  process.stderr.write(`${problem}\n`)
  process.exit(code)
}

if (import.meta.main && !Bun.isStandaloneExecutable) execPostgres()
