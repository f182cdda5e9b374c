import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Actor } from '../../audit/log/append.ts'

/** Who runs the command, for the audit log: `cli:<name of the user of the system>`. */
export function commandLineActor(): Actor {
  return { userId: `cli:${userName()}`, ipAddress: null }
}

/**
 * The name that the system gives the process's user. Bun's `userInfo` repeats the variable USER, which anybody may set:
 * it is asked only where the system's own list has no such user. A container may run as a number that has no name.
 */
function userName(): string {
  const uid = String(process.getuid?.() ?? '')
  return nameOf(uid) ?? knownName() ?? (uid === '' ? 'unknown' : uid)
}

function nameOf(uid: string): string | undefined {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n')
    return users.map((line) => line.split(':')).find((fields) => fields[2] === uid)?.[0]
  } catch {
    return undefined
  }
}

function knownName(): string | undefined {
  try {
    const { username } = userInfo()
    return username === '' || username === 'unknown' ? undefined : username
  } catch {
    return undefined
  }
}
