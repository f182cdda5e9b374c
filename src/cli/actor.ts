import { userInfo } from 'node:os'
import type { Actor } from '../audit/record.ts'

/** Who runs the command, for the audit log: `cli:<name of the user of the system>`. */
export function commandLineActor(): Actor {
  return { userId: `cli:${userName()}`, ipAddress: null }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // a container may run as a number that no user has
    return String(process.getuid?.() ?? 'unknown')
  }
}
