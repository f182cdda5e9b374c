import { expect, test } from 'bun:test'
import { addDays } from '../../../src/base/dates.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { startWorld } from './world.ts'

// Half a year, day by day: each day has work at noon and is looked at four times. The lists were made by hand.

const database = await testsDatabase()

const FIRST = '2026-01-01'
const LAST = '2026-06-30'
/** Each day's looks: its first minute, the hour of the digest, after its work, its last minute. */
const LOOKS = ['00:01:00', '08:00:30', '12:05:00', '23:59:00']

/** Each day costs $15: $10 of shop, $5 of web. These cost more, and on three days nobody works. */
const MORE: Record<string, { project: string; cost: number }> = {
  '2026-02-10': { project: 'shop', cost: 100 },
  '2026-02-11': { project: 'shop', cost: 100 },
  '2026-03-05': { project: 'web', cost: 50 },
  '2026-04-20': { project: 'shop', cost: 40 },
}
const FREE = ['2026-05-15', '2026-05-16', '2026-05-17']
const POOR = '2026-06-08'

const RULES = {
  day: { metric: 'cost', window: 'day', above: 100 },
  week: { metric: 'cost', window: 'week', above: 200 },
  usual: { metric: 'cost', window: 'day', times: 3 },
  each: { metric: 'cost', window: 'day', each: 'project', above: 50 },
  quality: { metric: 'average_quality', window: 'day', below: 60 },
  budget: { metric: 'budget_percent', window: 'month', above: 100 },
  forecast: { metric: 'forecast', window: 'month', above: 600 },
}

/**
 * The firings and resolutions by hand. A day's figure is 0 again in its first minute, a week's on Monday, a month's on its first day.
 * usual: the median of 14 days is 15, so that more than $45 fires. budget: $500 a month; February has 15 × day + 200, above 500 from
 * the 21st (515); March 15 × day + 50, above it on the 31st (515). forecast: on February 10 135 + 115 + 18 × 15 = 520, in the first
 * minute of the 11th 250 × 28 / 10 = 700, and above 600 to the month's end; on March 5 60 + 65 + 26 × 15 = 515, in the first minute of
 * the 6th 125 × 31 / 5 = 775, of the 12th 215 × 31 / 11 = 605.91, of the 13th 230 × 31 / 12 = 594.17. A day's work of 15 is below the
 * mean, and moves nothing.
 */
const BY_HAND: Record<keyof typeof RULES, string[]> = {
  day: ['fired 02-10 12:05', 'resolved 02-11 00:01', 'fired 02-11 12:05', 'resolved 02-12 00:01'],
  week: ['fired 02-11 12:05', 'resolved 02-16 00:01'],
  usual: [
    ...['fired 02-10 12:05', 'resolved 02-11 00:01', 'fired 02-11 12:05', 'resolved 02-12 00:01'],
    ...['fired 03-05 12:05', 'resolved 03-06 00:01', 'fired 04-20 12:05', 'resolved 04-21 00:01'],
  ],
  each: [
    ...[
      'fired 02-10 12:05 shop',
      'resolved 02-11 00:01 shop',
      'fired 02-11 12:05 shop',
      'resolved 02-12 00:01 shop',
    ],
    ...['fired 03-05 12:05 web', 'resolved 03-06 00:01 web'],
  ],
  // the next day has no sessions at first: no data is no news
  quality: ['fired 06-08 12:05'],
  budget: ['fired 02-21 12:05', 'resolved 03-01 00:01', 'fired 03-31 12:05', 'resolved 04-01 00:01'],
  forecast: [...['fired 02-11 00:01', 'resolved 03-01 00:01', 'fired 03-06 00:01', 'resolved 03-13 00:01']],
}

/** The messages that a threshold without states would have sent: one at each look at which a figure is beyond it. */
const NAIVE: Record<keyof typeof RULES, number> = {
  ...{ day: 4, week: 18, usual: 8, each: 6, quality: 2, budget: 32, forecast: 100 },
}

const day = (text: string) => text.slice(5, 10)

test('each firing comes once, on its day, and each digest once', async () => {
  const world = await startWorld(database, { start: `${FIRST}T00:00:00Z` })
  await world.ask('PUT', '/v1/budgets/2026-01', { limit: 500 })
  const ids = new Map<string, string>()
  for (const [name, rule] of Object.entries(RULES))
    ids.set(name, await world.add('alerts', { name, ...rule }))
  const digest = await world.add('digests', { name: 'Week', weekday: 'monday', hour: 8 })
  const beyond: Record<string, number> = {}
  for (let date = FIRST; date <= LAST; date = addDays(date, 1))
    for (const time of LOOKS) {
      await world.look(`${date}T${time}Z`)
      if (time === LOOKS[1] && !FREE.includes(date)) {
        const quality = date === POOR ? 40 : 80
        await world.work([
          ...[
            { cost: 10, quality_score: quality },
            { project: 'web', cost: 5, quality_score: quality },
          ],
          ...(MORE[date] === undefined ? [] : [{ ...MORE[date], quality_score: quality }]),
        ])
      }
      for (const alert of (await world.ask('GET', '/v1/alerts')).body.data)
        if (alert.state === 'firing') beyond[alert.name] = (beyond[alert.name] ?? 0) + 1
    }
  for (const [name, wanted] of Object.entries(BY_HAND)) {
    const told = (await world.told(ids.get(name) ?? '')).map(({ event, body: { timestamp, data } }) =>
      [event.replace('alert.', ''), day(timestamp), timestamp.slice(11, 16), data.key]
        .filter(Boolean)
        .join(' '),
    )
    expect([name, told]).toEqual([name, wanted])
  }
  expect(beyond).toEqual(NAIVE)
  const weeks = (await world.told(digest)).map(({ body: { timestamp, data } }) => [
    timestamp.slice(0, 16),
    data.from,
    data.to,
    data.cost,
    data.previous_cost,
  ])
  expect(weeks).toHaveLength(26)
  expect(weeks.map(([at]) => at)).toEqual(
    Array.from({ length: 26 }, (_, week) => `${addDays('2026-01-05', 7 * week)}T08:00`),
  )
  const costs = new Map(weeks.map(([at, , , cost]) => [day(String(at)), cost]))
  // the first week has four days, and the one of May 18 four
  const special = { '01-05': 60, '02-16': 305, '03-09': 155, '04-27': 145, '05-18': 60 }
  for (const [at, cost] of costs) expect([at, cost]).toEqual([at, special[at as '01-05'] ?? 105])
  expect(weeks[6]).toEqual(['2026-02-16T08:00', '2026-02-09', '2026-02-15', 305, 105])
}, 120_000)
