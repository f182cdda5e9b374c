// The sentences of the page `Security` on findings.

import type { ListedFinding } from '../../features/security/finding-model.ts'
import type { SecurityOverview } from '../../features/security/model.ts'
import type { Loaded, Page } from '../client/api.ts'
import { dayOfTime, type Range } from '../client/days.ts'
import { countOf, daysAgo, formatDay, formatWhole, inRange } from '../client/format.ts'
import { NONE } from '../client/links.ts'

/** Kinds and places of critical findings that are named. */
const NAMED = 12

/** `3 findings are accepted. ` before what is open, where the list has others. */
export function statusSaid(status: string, findings: Loaded<Page<ListedFinding>>): string {
  const total = findings.value?.pagination.total
  if (status === 'open' || total === undefined) return ''
  const state = status === 'any' ? 'in all' : `${total === 1 ? 'is' : 'are'} ${status}`
  return `${countOf(total, 'finding')} ${state}. `
}

/** `6 critical findings are open, in 3 files, the oldest 9 days`; `of` names the days in which they came up. */
export function findingsSaid({ data, pagination: { total } }: Page<ListedFinding>, of: string): string {
  if (total === 0) return `No critical finding${of} is open`
  const files = new Set(data.flatMap(({ file, project }) => (file === null ? [] : `${project} ${file}`))).size
  const oldest = Math.max(...data.map(({ created_at }) => daysAgo(created_at)))
  const unassigned = data.filter(({ assignee }) => assignee === null).length
  const where = files === 0 ? '' : `, in ${countOf(files, 'file')}`
  const nobody =
    unassigned === 0 ? '' : unassigned === total ? '; nobody has them' : `; nobody has ${unassigned} of them`
  return `${countOf(total, 'critical finding')}${of} ${total === 1 ? 'is' : 'are'} open${where}, the oldest ${countOf(oldest, 'day')}${total === 1 ? nobody.replace('them', 'it') : nobody}`
}

/** `2 × AWS access key, 1 × Private key: in src/a.ts of shop since 21 Aug, web/b.ts of web since 3 Sep. `; empty where not all are known. */
export function criticalSaid({ data, pagination: { total } }: Page<ListedFinding>): string {
  if (total === 0 || data.length < total) return ''
  const kinds = [...Map.groupBy(data, ({ title }) => title)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([title, { length }]) => `${length} × ${title}`)
  // the oldest first, each place once
  const oldest = data.toSorted((a, b) => a.created_at.localeCompare(b.created_at))
  const places = new Map<string, string>()
  for (const { file, project, created_at } of oldest) {
    const place = file === null ? (project ?? NONE) : `${file} of ${project ?? NONE}`
    if (!places.has(place)) places.set(place, `${place} since ${formatDay(dayOfTime(created_at))}`)
  }
  const firstAndMore = (names: readonly string[], what: string) => {
    // the only other one is named
    const shown = names.length > NAMED + 1 ? NAMED : names.length
    return `${names.slice(0, shown).join(', ')}${names.length > shown ? ` and ${names.length - shown} more ${what}` : ''}`
  }
  return `${firstAndMore(kinds, 'kinds')}: in ${firstAndMore([...places.values()], 'places')}. `
}

/** `Better than before: 9 findings came up from 31 Oct to 29 Nov, 3 fewer than from 1 to 30 Oct; 2 of them critical, 4 of those before. ` */
export function foundSaid(
  { summary, found, previous }: SecurityOverview,
  { now, before }: Record<'now' | 'before', Range>,
) {
  if (found === undefined || previous === undefined || found.total + previous.found.total === 0) return ''
  if (summary.total_sessions === 0) return `Nothing was looked at ${inRange(now)}. `
  const { total, critical } = previous.found
  const more = found.total - total
  const than =
    previous.total_sessions === 0
      ? `; nothing was looked at ${inRange(before)}`
      : more === 0
        ? `, as many as ${inRange(before)}`
        : `, ${formatWhole(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} than ${inRange(before)}`
  const were = `${found.critical === 0 ? 'none' : formatWhole(found.critical)} of them critical, ${critical === 0 ? 'none' : formatWhole(critical)} of those before`
  const worse = Math.sign(more) + Math.sign(found.critical - critical)
  const verdict =
    previous.total_sessions === 0 || worse === 0
      ? ''
      : worse > 0
        ? 'Worse than before: '
        : 'Better than before: '
  return `${verdict}${found.total === 0 ? `${verdict === '' ? 'N' : 'n'}o finding` : countOf(found.total, 'finding')} came up ${inRange(now)}${than}${found.critical + critical > 0 ? `; ${were}` : ''}. `
}
