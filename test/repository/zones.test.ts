import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addDays, DAY_MS, dayOf, hourOf, instantsOf, isTimeZone, LAST_DATE } from '../../src/base/dates.ts'

const ZONES = Intl.supportedValuesOf('timeZone')

/** The date that a clock in the zone shows, which the vendors call the day. */
const shownDay = (zone: string) => {
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
  return (instant: Date) => clock.format(instant)
}

const hoursIn = (day: string, zone: string) => {
  const { from, before } = instantsOf(day, day, zone)
  return (Date.parse(before ?? '') - Date.parse(from ?? '')) / 3_600_000
}

describe('time zones', () => {
  test.each([
    'UTC',
    'Europe/Berlin',
    'Asia/Calcutta',
    'Asia/Kolkata',
    'US/Pacific',
    'EST5EDT',
    'Etc/GMT+5',
    'GMT0',
  ])('%s is one', (name) => expect(isTimeZone(name)).toBe(true))
  test.each([
    '',
    '+01:00',
    '-05',
    'UTC+1',
    'GMT+1',
    'Z',
    'PST',
    'europe/berlin',
    'Europe/Berlin ',
    'Mars/Olympus',
  ])("'%s' is none", (name) => expect(isTimeZone(name)).toBe(false))

  test('the day of an instant is the date that a clock shows, in every zone', () => {
    for (const zone of ZONES) {
      const shown = shownDay(zone)
      for (let ms = Date.UTC(2012, 0, 1); ms < Date.UTC(2037, 0, 1); ms += 86 * DAY_MS + 5_432_109) {
        const instant = new Date(ms)
        expect([zone, instant, dayOf(instant, zone)]).toEqual([zone, instant, shown(instant)])
      }
    }
  })

  test('a day begins when a clock first shows its date, and ends where the next one begins', () => {
    const anyDay = fc.integer({ min: 15_400, max: 24_000 }).map((days) => addDays('1970-01-01', days))
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), anyDay, (zone, day) => {
        const [shown, start] = [shownDay(zone), hourOf(day, 0, zone)]
        expect(shown(start)).toBe(day)
        expect(shown(new Date(Number(start) - 1))).toBe(addDays(day, -1))
        expect(dayOf(start, zone)).toBe(day)
        expect(dayOf(new Date(Number(start) - 1), zone)).toBe(addDays(day, -1))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['UTC', '2026-10-25', '2026-10-25T00:00:00.000Z', 24],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
    ['Asia/Kolkata', '2026-10-25', '2026-10-24T18:30:00.000Z', 24],
    // a day without midnight
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', 23],
    ['Africa/Cairo', '2026-10-29', '2026-10-28T21:00:00.000Z', 25],
    // a day that has midnight twice
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00.000Z', 23.5],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
    // a day that the zone left out
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', 0],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', 24],
  ])('%s: %s begins at %s and has %p hours', (zone, day, start, hours) => {
    expect(hourOf(day, 0, zone).toISOString()).toBe(start)
    expect(hoursIn(day, zone)).toBe(hours)
  })

  test('an hour that is skipped is the next one, and one that comes twice the first', () => {
    const at = (day: string, hour: number, zone: string) => hourOf(day, hour, zone).toISOString()
    expect(at('2026-03-29', 2, 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z')
    expect(at('2026-03-29', 3, 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z')
    expect(at('2026-10-25', 2, 'Europe/Berlin')).toBe('2026-10-25T00:00:00.000Z')
    expect(at('2026-10-25', 3, 'Europe/Berlin')).toBe('2026-10-25T02:00:00.000Z')
    // at 3:45 the clock is set back to 2:45
    expect(at('2026-04-05', 3, 'Pacific/Chatham')).toBe('2026-04-04T13:15:00.000Z')
    expect(at('2026-04-24', 0, 'Africa/Cairo')).toBe('2026-04-23T22:00:00.000Z')
    expect(at('2026-06-01', 23, 'America/New_York')).toBe('2026-06-02T03:00:00.000Z')
  })

  test('the first and the last days', () => {
    expect(dayOf('1970-01-01T00:00:00.000Z', 'America/New_York')).toBe('1969-12-31')
    expect(dayOf('9999-12-31T23:59:59.999Z', 'Asia/Tokyo')).toBe(LAST_DATE)
    expect(instantsOf('0001-01-01', LAST_DATE, 'Asia/Tokyo')).toEqual({
      from: '0001-01-01T00:00:00.000Z',
      before: undefined,
    })
    expect(instantsOf('1969-12-31', '1970-01-01', 'America/New_York')).toEqual({
      from: '1969-12-31T05:00:00.000Z',
      before: '1970-01-02T05:00:00.000Z',
    })
    expect(instantsOf(undefined, undefined, 'Asia/Tokyo')).toEqual({ from: undefined, before: undefined })
  })
})
