import { isInstant, isTimestamp, LAST_MICROS, microsOf, timestampOf } from '../dates.ts'
import { validationError } from '../errors.ts'

/** Where a page of the log begins: strictly before or after this time, which has six decimals. */
export interface Position {
  direction: 'before' | 'after'
  at: string
}

/** A `+` that was not percent-encoded arrives as a space; no timestamp has one before its offset. */
const BARE_PLUS = / (\d\d:\d\d)$/

/**
 * The position that a `cursor` means. Entries have microseconds: what a cursor has beyond them is rounded so that the
 * same entries lie before and after it. Throws VALIDATION_ERROR unless it is an RFC 3339 timestamp with an offset.
 */
export function readCursor(cursor: string, direction: Position['direction']): Position {
  const text = cursor.replace(BARE_PLUS, '+$1')
  if (!isInstant(text)) {
    throw validationError({ field: 'cursor', message: 'must be an RFC 3339 timestamp with an offset' })
  }
  // no entry is older than 1970
  if (!isTimestamp(text)) return { direction, at: '-infinity' }
  const at = microsOf(text)
  const isBetween = /\.\d{6}\d*[1-9]/.test(text)
  // an entry at .123456 is before .1234567
  if (direction === 'before' && isBetween)
    return { direction, at: at === LAST_MICROS ? 'infinity' : timestampOf(at + 1n) }
  return { direction, at: timestampOf(at) }
}
