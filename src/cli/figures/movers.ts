import { addDays, dateOf, daysBetween } from '../../base/dates.ts'
import type { Breakdown, BreakdownItem } from '../../features/cost/breakdown-model.ts'
import { type Colour, draw, paint } from '../command/table.ts'
import { counted, money, percent } from './numbers.ts'
import { NONE, rangeOf } from './options.ts'
import { findBody, type View } from './source.ts'

const MOST = 3

/** The three projects whose cost of whole days changed most against the equally long range before; of one project, its models. */
export async function moversText({ screen, source, parameters }: View): Promise<string[]> {
  const { from, to: last } = rangeOf(parameters)
  // today is not over, and is not compared with a whole day
  const yesterday = addDays(dateOf(new Date()), -1)
  const [to = last] = [last, yesterday].sort()
  if (from === null || from > to) return []
  const { project } = parameters
  const by = project === undefined ? 'project' : 'model'
  const range = { date_from: from, date_to: to }
  const query = { ...range, by, project, compare: 'previous', sort: 'change', per_page: String(MOST) }
  const found = await findBody<Breakdown>(source, '/cost/breakdown', query, ['compare', 'sort'])
  if (found === undefined) return []
  const { data, total } = found
  const changed = data.filter((item) => changeOf(item) !== 0)
  if (changed.length === 0) return []
  const before = `the ${counted(daysBetween(from, to) + 1, 'day')} before`
  const heading = `Largest changes${last > to ? ' to yesterday' : ''} against ${before}; of all ${changeText(total)}`
  const table = draw(screen, changed, [
    { head: by.toUpperCase(), value: ({ key }) => key ?? NONE, least: 12 },
    { head: 'BEFORE', value: ({ previous }) => money(previous?.cost ?? 0), right: true },
    { head: 'COST', value: ({ cost }) => money(cost), right: true },
    { head: 'CHANGE', value: changeText, right: true, colour: colourOf },
  ])
  return [`${paint(screen, heading, 'bold')}\n${table}`]
}

type Changed = Pick<BreakdownItem, 'cost' | 'previous'>

const changeOf = ({ cost, previous }: Changed): number => cost - (previous?.cost ?? 0)

function changeText(item: Changed): string {
  const change = changeOf(item)
  const before = item.previous?.cost ?? 0
  const part = before === 0 ? 'new' : item.cost === 0 ? 'gone' : percent(Math.abs(change) / before)
  return `${change < 0 ? '-' : '+'}${money(Math.abs(change))} (${part})`
}

const colourOf = (item: Changed): Colour => (changeOf(item) > 0 ? 'red' : 'green')
