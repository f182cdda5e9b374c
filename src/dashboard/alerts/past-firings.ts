// Says when an alert would have fired in the past, by the server's own rules, beside the form that makes it.

import { UTC } from '../../base/dates.ts'
import { MONEY_DECIMALS, scaled } from '../../base/decimals.ts'
import * as rules from '../../features/alerts/evaluate.ts'
import type { Watched } from '../../features/alerts/model.ts'
import { forecastOf } from '../../features/budgets/forecast.ts'
import { addDays, periodsOf, type Range } from '../client/days.ts'

/** The part of a day in the figure of a key. */
export interface DaySum {
  day: string
  key: string
  sum: number
  sessions: number
}

export type Firing = rules.KeyNotice & { day: string }

/** When the alert would have fired, looked at when each day began and ended. `sums` are in the order of time. */
export function firingsOf(watched: Watched, sums: readonly DaySum[], range: Range): Firing[] {
  const { metric, window, each, times } = watched
  const isMean = metric === 'average_quality'
  const windows = times === undefined ? 1 : rules.WINDOWS_BEFORE + 1
  /** Sum and sessions, by key and window, and by `on` and a day. */
  const byKey = new Map<string, Map<string, readonly [number, number]>>(
    each === null ? [['', new Map()]] : [],
  )
  let [next, states]: [number, rules.States] = [0, {}]
  const addBefore = (end: string) => {
    for (let one = sums[next]; one !== undefined && one.day < end; one = sums[++next]) {
      const ofKey = byKey.get(one.key) ?? new Map()
      for (const period of [rules.windowAt(window, one.day), `on ${one.day}`]) {
        const [sum, sessions] = ofKey.get(period) ?? [0, 0]
        ofKey.set(period, [sum + one.sum, sessions + one.sessions])
      }
      byKey.set(one.key, ofKey)
    }
  }
  const look = (day: string, now: Date): Firing[] => {
    const periods = Array.from({ length: windows }, (_, back) => rules.windowAt(window, day, -back))
    const series = new Map<string, rules.Series>()
    for (const [key, ofKey] of byKey) {
      const [current = null, ...before] = periods.map((period, back) => {
        const [sum, sessions] = ofKey.get(period) ?? [0, 0]
        if (isMean) return sessions === 0 ? null : sum / sessions
        if (metric !== 'forecast' || back > 0) return sum
        const [ofDay] = ofKey.get(`on ${day}`) ?? [0]
        const units = (part: number) => scaled(Math.max(0, part), MONEY_DECIMALS)
        return forecastOf({ before: units(sum - ofDay), today: units(ofDay) }, day).cost
      })
      if (each === null || periods.some((period) => ofKey.has(period))) series.set(key, [current, ...before])
    }
    const values = { series, empty: isMean ? null : 0 }
    const result = rules.evaluate({ ...watched, renotify_minutes: null }, states, values, { now, zone: UTC })
    states = result.states
    return result.notices.flatMap((notice) => (notice.state === 'firing' ? { ...notice, day } : []))
  }
  return periodsOf(range, 'day').flatMap((day) => {
    addBefore(day)
    const atFirst = look(day, new Date(day))
    addBefore(addDays(day, 1))
    return [...atFirst, ...look(day, new Date(`${day}T23:59:59Z`))]
  })
}
