// Sentences on what is left of the reader's own budgets and limits, on the overview and `Me`.

import type { Attention } from '../../features/attention/model.ts'
import { monthOf, today } from '../client/days.ts'
import { formatDollars, formatMonth, formatPercent, localTime } from '../client/format.ts'

/** `Left in November: $12.95 of your $40.00, $9.53 of the $60.00 of team payments`. */
export function saidOfLeft(mine: Attention['mine']): string {
  const month = formatMonth(monthOf(today()).from)
  if (mine.length === 0) return `No budget holds in ${month}`
  const said = mine.map(({ scope: { member, team }, limit, current_cost }) => {
    const left =
      current_cost < limit
        ? formatDollars(limit - current_cost)
        : `nothing (${formatDollars(current_cost)} is spent)`
    const whose = team === undefined ? 'the organization' : `team ${team}`
    return `${left} of ${member === undefined ? `the ${formatDollars(limit)} of ${whose}` : `your ${formatDollars(limit)}`}`
  })
  // that of the organization is the first, and said last
  const isOf = Object.keys(mine[0]?.scope ?? {}).length === 0
  return `Left in ${month}: ${(isOf ? [...said.slice(1), said[0]] : said).join(', ')}`
}

const VENDORS: Readonly<Record<string, string>> = {
  ...{ anthropic: 'Claude', openai: 'Codex', google: 'Gemini', github: 'Copilot', cursor: 'Cursor' },
}
const LIMITS: Readonly<Record<string, string>> = {
  ...{
    five_hour: 'five-hour limit',
    week: 'weekly limit',
    month: 'monthly limit',
    spend: 'limit of spending',
  },
}

/** `Claude, used: five-hour limit 34.0%, until 2026-11-30 11:35; weekly limit 61.0%`; empty where no limit is known. */
export const saidOfWindows = (windows: Attention['windows']): string =>
  [...Map.groupBy(windows, ({ vendor }) => vendor)]
    .map(([vendor, of]) => {
      const used = of.map(
        ({ limit, scope, used_percent, resets_at }) =>
          `${LIMITS[limit] ?? limit}${scope === null ? '' : ` (${scope})`} ${formatPercent(used_percent)}${resets_at === null ? '' : `, until ${localTime(resets_at)}`}`,
      )
      return `${VENDORS[vendor] ?? vendor}, used: ${used.join('; ')}`
    })
    .join('. ')
