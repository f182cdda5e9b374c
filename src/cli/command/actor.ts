import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Actor } from '../../accounts/audit-log/append.ts'

/** Names the user who runs the command, for the audit log: `cli:<login name>`. */
export const commandLineActor = (): Actor => ({ userId: `cli:${userName()}`, ipAddress: null })

/**
 * The login name of the process's user. Bun 1.4.5's `userInfo` returns the variable USER, which the caller
 * may set to any name: it is only the fallback for users that are not in /etc/passwd. A container's uid may
 * have no name at all.
 */
function userName(): string {
  const uid = String(process.getuid?.() ?? '')
  return nameInPasswd(uid) ?? nameByUserInfo() ?? (uid === '' ? 'unknown' : uid)
}

function nameInPasswd(uid: string): string | undefined {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n')
    return users.map((line) => line.split(':')).find((fields) => fields[2] === uid)?.[0]
  } catch {
    return undefined
  }
}

function nameByUserInfo(): string | undefined {
  try {
    const { username } = userInfo()
    return username === '' || username === 'unknown' ? undefined : username
  } catch {
    return undefined
  }
}
