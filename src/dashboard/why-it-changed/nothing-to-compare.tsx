// The page `Why it changed` where there is nothing to compare with: says since when there is something, and offers other days.

import type { Explanation } from '../../features/explain/model.ts'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { type Page, useApi } from '../client/api.ts'
import { addDays, lengthOf, type Range, today } from '../client/days.ts'
import { formatDollars, formatRange, inRange } from '../client/format.ts'
import type { PageProps } from '../client/links.ts'
import { linkDays } from '../client/router.ts'
import { comparedWith } from '../pages/breakdown.ts'
import { Answer, NoSessions, Show } from '../parts/show.tsx'
import { halvesOf, nothingBefore } from './cause-words.ts'

interface NothingProps extends Pick<PageProps, 'route'> {
  found: Explanation
  days: Record<'now' | 'before', Range>
  filters: Record<string, string | undefined>
}

export function Nothing({ found, days, filters, route }: NothingProps) {
  const oldest = useApi<Page<SessionListItem>>('/sessions', {
    ...{ ...filters, sort: 'created_at', order: 'asc', per_page: 1 },
  })
  return (
    <Show loaded={oldest} what="the first session">
      {({ data: [session] }) => {
        const first = session?.created_at.slice(0, 10)
        if (first === undefined)
          return (
            <>
              <Answer>There is nothing to compare yet.</Answer>
              <NoSessions />
            </>
          )
        if (first <= days.before.to)
          return (
            <Answer soft="Choose other days to compare with.">
              {formatRange(found)} cost {formatDollars(found.after)}; nothing was spent {inRange(days.before)}
              .
            </Answer>
          )
        const since = lengthOf({ from: first, to: addDays(today(), -1) })
        const halves = halvesOf(first, since)
        return (
          <>
            <Answer
              soft={
                halves === undefined
                  ? 'This page compares whole days: come back tomorrow.'
                  : `This page needs two ranges of days with sessions. With ${since} days of sessions it can compare ${halves.days} with ${halves.days}.`
              }
            >
              {nothingBefore(first)}.
            </Answer>
            {halves !== undefined && (
              <a class="button" href={linkDays(route, halves.now, { against: comparedWith(halves) })}>
                Compare {formatRange(halves.now)} with {formatRange(halves.before)}
              </a>
            )}
          </>
        )
      }}
    </Show>
  )
}
