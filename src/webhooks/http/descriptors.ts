import { closeSync, openSync } from 'node:fs'
import { codeOf } from '../../base/errors.ts'

/**
 * Whether this process has no file descriptor left. Bun reports ECONNREFUSED for a connection that failed for
 * that reason. Opens and closes one file: some 5 µs.
 */
export function isOutOfDescriptors(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return false
  } catch (error) {
    const code = codeOf(error)
    return code === 'EMFILE' || code === 'ENFILE'
  }
}
