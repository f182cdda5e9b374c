import { isInstant, isTime, LAST_MICROS, microsOf, timestampOf } from '../../base/dates.ts'
import { validationError } from '../../base/errors.ts'

/** The start of a page: entries strictly before or after `at`, which has six decimals. */
interface Position {
  direction: 'before' | 'after'
  at: string
}

/** A `+` that is not percent-encoded arrives as a space. Times have no space before the offset. */
const BARE_PLUS = /(?<=:\S+) (\d\d:\d\d)$/

/**
 * The position of a `cursor`. Entries have microseconds: a cursor with more digits is rounded so that the same entries are
 * before and after it. Throws VALIDATION_ERROR unless it is a time.
 */
export function readCursor(cursor: string, direction: Position['direction']): Position {
  const text = cursor.replace(BARE_PLUS, '+$1')
  if (!isInstant(text)) {
    throw validationError({
      field: 'cursor',
      message: 'must be a date, or a date and time, like 2026-01-31T12:34:56.789123Z',
    })
  }
  // no entry is older than 1970
  if (!isTime(text)) return { direction, at: '-infinity' }
  const at = microsOf(text)
  const isBetween = /\.\d{6}\d*[1-9]/.test(text)
  // an entry at .123456 is before .1234567
  if (direction === 'before' && isBetween)
    return { direction, at: at === LAST_MICROS ? 'infinity' : timestampOf(at + 1n) }
  return { direction, at: timestampOf(at) }
}
