// Keeps in the browser what the overview showed at the last look, so that the next one says what has happened since.

import { useMemo } from 'preact/hooks'
import { countOf, formatDollars } from '../client/format.ts'
import { storedAs } from '../client/storage.ts'

/** A look that is this old is the last one; a page that is loaded again within this time shows the same. */
const LOOK_MS = 30 * 60_000

/** Cost and sessions of days, and the number of open critical findings. */
export interface Look {
  days: Readonly<Record<string, readonly [cost: number, sessions: number]>>
  critical: number
}

interface Kept extends Look {
  at: number
}

const weekdayTime = new Intl.DateTimeFormat('en-GB', { weekday: 'long', hour: '2-digit', minute: '2-digit' })

/** `Last look: Friday 17:20. Since then 34 sessions, $156.34, 2 more critical findings.`; undefined at the first look. */
export function useSinceLastLook(organization: string, now: Look): string | undefined {
  return useMemo(() => {
    const stored = storedAs(`cloud-analytics-look ${organization}`, () => localStorage)
    const { last, latest } = JSON.parse(stored.read() ?? '{}') as { last?: Kept; latest?: Kept }
    const isNew = latest === undefined || Date.now() - latest.at > LOOK_MS
    const before = isNew ? latest : last
    stored.write(
      JSON.stringify({ last: before, latest: isNew ? { ...now, at: Date.now() } : { ...latest, ...now } }),
    )
    if (before === undefined) return undefined
    let [cost, sessions] = [0, 0]
    const first = Object.keys(before.days).sort()[0] ?? ''
    for (const [day, [nowCost, nowSessions]] of Object.entries(now.days)) {
      if (day < first) continue
      const [oldCost = 0, oldSessions = 0] = before.days[day] ?? []
      cost += nowCost - oldCost
      sessions += nowSessions - oldSessions
    }
    const critical = now.critical - before.critical
    const parts = [
      countOf(Math.max(0, sessions), 'session'),
      formatDollars(Math.max(0, cost)),
      ...(critical === 0
        ? []
        : [`${countOf(Math.abs(critical), `${critical > 0 ? 'more' : 'fewer'} critical finding`)}`]),
    ]
    return `Last look: ${weekdayTime.format(before.at)}. Since then ${parts.join(', ')}.`
  }, [organization, JSON.stringify(now)])
}
