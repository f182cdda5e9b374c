import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  addDays,
  addMonths,
  daysBetween,
  isDate,
  isInstant,
  isNormalized,
  isTime,
  isTimestamp,
  microsOf,
  mondayOf,
  normalizeTimestamp,
  type Span,
  shortSpansOf,
  spansOf,
  timestampOf,
} from '../../src/base/dates.ts'
import { decimalText, roundedQuotient, scaled, unitsOf, unscaled } from '../../src/base/decimals.ts'

const date = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((value) => value.toISOString().slice(0, 10))

describe('dates', () => {
  test.each([
    '2026-02-30',
    '2026-02-29',
    '0000-00-00',
    '0000-01-01',
    '2026-13-01',
    '2026-1-1',
    '20260101',
    'now',
  ])('%s is none', (text) => {
    expect(isDate(text)).toBe(false)
    expect(isTimestamp(`${text}T12:34:56.789Z`)).toBe(false)
  })
  test.each(['2024-02-29', '1900-01-01', '0001-01-01', '9999-12-31'])('%s is one', (text) =>
    expect(isDate(text)).toBe(true),
  )

  test.each([
    ['2026-01-31T12:34:56.789123+02:00', '2026-01-31T10:34:56.789Z'],
    ['2026-01-31t12:34:56z', '2026-01-31T12:34:56.000Z'],
  ])('%s is %s', (text, utc) => {
    expect(isTimestamp(text)).toBe(true)
    expect(normalizeTimestamp(text)).toBe(utc)
    expect([isNormalized(text), isNormalized(utc)]).toEqual([false, true])
  })
  test.each([
    '2026-01-31T12:34:56',
    '2026-01-31',
    '2026-01-31T12:34:60Z',
    '2026-01-31T24:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-02-30T00:00:00.000Z',
  ])('%s is no timestamp', (text) => expect([isTimestamp(text), isNormalized(text)]).toEqual([false, false]))

  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:34', '2026-01-31T12:34:00.000Z'],
    ['2026-01-31 12:34:56', '2026-01-31T12:34:56.000Z'],
    ['2026-01-31T12:34:56.7891', '2026-01-31T12:34:56.789Z'],
    ['2026-01-31T12:34+02:00', '2026-01-31T10:34:00.000Z'],
    ['2026-01-31T12:34+02', '2026-01-31T10:34:00.000Z'],
    ['2026-01-31T12:34:56-0130', '2026-01-31T14:04:56.000Z'],
    ['2026-01-31T12:34:56.789123Z', '2026-01-31T12:34:56.789Z'],
  ])('the time %s is %s', (text, utc) => {
    expect([isTime(text), isInstant(text)]).toEqual([true, true])
    expect(normalizeTimestamp(text)).toBe(utc)
    expect(timestampOf(microsOf(text)).slice(0, 23)).toBe(utc.slice(0, 23))
  })
  test.each([
    '2026',
    '2026-01',
    '2026-02-30',
    '2026-01-31T',
    '2026-01-31T12',
    '2026-01-31T24:00',
    '2026-01-31T12:60',
    '2026-01-31Z',
    '2026-01-31T12:34.5',
    '2026-01-31T12:34+2',
    '2026-01-31T12:34+24',
    '20260131',
    '12:34',
    'now',
  ])('%s is no time', (text) => expect([isTime(text), isInstant(text)]).toEqual([false, false]))

  test.each(['0001-01-01T00:00:00Z', '1969-12-31T23:59:59.999999Z'])(
    '%s is too early for a timestamp',
    (text) => {
      expect(isTimestamp(text)).toBe(false)
      expect(isInstant(text)).toBe(true)
    },
  )
  test.each(['0001-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'])('%s is no instant', (text) =>
    expect(isInstant(text)).toBe(false),
  )

  test.each([
    ['2026-01-31T12:34:56.789123999+02:00', '2026-01-31T10:34:56.789123Z'],
    ['2026-01-31T12:34:56.7-05:30', '2026-01-31T18:04:56.700000Z'],
    ['9999-12-31 23:59:59.999999999z', '9999-12-31T23:59:59.999999Z'],
    ['1970-01-01t00:00:00Z', '1970-01-01T00:00:00.000000Z'],
  ])('%s to the microsecond is %s', (text, utc) => expect(timestampOf(microsOf(text))).toBe(utc))

  test('weeks begin on Monday', () => {
    fc.assert(
      fc.property(date, (day) => {
        const monday = mondayOf(day)
        expect(new Date(monday).getUTCDay()).toBe(1)
        expect(daysBetween(monday, day)).toBeWithin(0, 7)
      }),
    )
  })

  /** The days of a span that are at most `to`. */
  const daysIn = ({ grain, from = '', before }: Span, to: string): string[] => {
    const days: string[] = []
    for (let day = from; day <= to && (before === undefined || day < before) && isDate(day); ) {
      days.push(day)
      day = addDays(day, 1)
    }
    if (grain === 'month') {
      expect(from.slice(8)).toBe('01')
      if (before !== undefined) expect(before).toBe(addMonths(before, 0))
    }
    return days
  }
  const range = fc.tuple(date, fc.integer({ min: 0, max: 400 })).map(([from, length]) => {
    const last = addDays(from, length)
    return { from, to: isDate(last) ? last : '9999-12-31' }
  })
  const wanted = ({ from, to }: { from: string; to: string }) =>
    Array.from({ length: daysBetween(from, to) + 1 }, (_, index) => addDays(from, index))

  test('spans cover each day of a range once, and no other', () => {
    fc.assert(
      fc.property(range, ({ from, to }) => {
        const covered = spansOf(from, to).flatMap((span) => daysIn(span, to))
        expect(covered.sort()).toEqual(wanted({ from, to }))
      }),
    )
  })

  test('short spans do when the subtracted days are taken away, with at most 16 single days at each end', () => {
    fc.assert(
      fc.property(range, ({ from, to }) => {
        const { added, subtracted } = shortSpansOf(from, to)
        // a month's row has all of its days
        const end = addDays(addMonths(to, 1), -1)
        const last = isDate(end) ? end : '9999-12-31'
        const times = new Map<string, number>()
        for (const [spans, sign] of [
          [added, 1],
          [subtracted, -1],
        ] as const) {
          for (const day of spans.flatMap((span) => daysIn(span, last))) {
            times.set(day, (times.get(day) ?? 0) + sign)
          }
        }
        const covered = [...times].filter(([, count]) => count !== 0)
        expect(covered.map(([day]) => day).sort()).toEqual(wanted({ from, to }))
        expect(covered.every(([, count]) => count === 1)).toBe(true)
        const single = [...added, ...subtracted].filter(({ grain }) => grain === 'day')
        if (added.some(({ grain }) => grain === 'month')) {
          for (const span of single) expect(daysIn(span, last).length).toBeLessThanOrEqual(16)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('decimals', () => {
  test('a number and its units are each other, and what the decimal text says', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), (units) => {
        expect(unscaled(units, 6)).toBe(Number(decimalText(units, 6)))
        expect(unitsOf(decimalText(units, 6))).toBe(units)
        if (units >= 0n && units < 10n ** 15n) expect(scaled(unscaled(units, 6), 6)).toBe(units)
      }),
    )
  })

  test.each([
    [1.0000005, 1_000_001n],
    [0.0000004999, 0n],
    [5e-7, 1n],
    [1e-300, 0n],
    [1e6, 1_000_000_000_000n],
    [1e21, 10n ** 27n],
  ])('%p in millionths is %p', (value, units) => expect(scaled(value, 6)).toBe(units))

  test('quotients are rounded half up', () => {
    expect(roundedQuotient(5n, 2n)).toBe(3n)
    expect(roundedQuotient(7n, 3n)).toBe(2n)
  })
})
