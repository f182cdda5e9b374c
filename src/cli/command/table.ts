// Draws tables, colours and bars, as wide as the terminal; a pipe gets the full text.

import { cellOf, pad } from './output.ts'

/** The abilities of standard output. */
export interface Screen {
  /** Columns of the terminal; null where there is none, and nothing is cut. */
  width: number | null
  colour: boolean
  /** Whether the locale has more than ASCII. */
  unicode: boolean
}

type Environment = Record<string, string | undefined>

/** Columns of a terminal that does not tell. */
const USUAL_WIDTH = 80

/** Standard output as it is. */
export function screenOf(
  env: Environment,
  { isTTY, columns }: { isTTY?: boolean; columns?: number } = process.stdout,
): Screen {
  return {
    width: isTTY === true ? columns || USUAL_WIDTH : null,
    colour: isColoured(env, isTTY === true),
    unicode: hasUnicode(env),
  }
}

/** NO_COLOR that is not empty forbids colours, FORCE_COLOR asks for them; else a terminal has them. */
function isColoured({ NO_COLOR, FORCE_COLOR, TERM }: Environment, isTerminal: boolean): boolean {
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0'
  return isTerminal && TERM !== 'dumb'
}

/** A locale that is not of UTF-8 has none; without one, as in a container, terminals have it. */
function hasUnicode({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG
  return !locale || /utf-?8/i.test(locale)
}

/** Codes of "select graphic rendition" (ECMA-48). */
const COLOURS = { bold: 1, red: 31, green: 32, yellow: 33, cyan: 36 } as const
export type Colour = keyof typeof COLOURS

export const paint = ({ colour }: Screen, text: string, name: Colour | undefined): string =>
  colour && name !== undefined && text !== '' ? `\x1b[${COLOURS[name]}m${text}\x1b[0m` : text

/** The colour of a score from 0 to 100 of which high is good: the limits of the badges. */
export const colourOfScore = (score: number): Colour =>
  score >= 80 ? 'green' : score >= 50 ? 'yellow' : 'red'

export interface Column<Row> {
  head: string
  value: (row: Row) => unknown
  /** Figures are aligned at their ends. */
  right?: boolean
  /** A text that may be cut to this many columns. */
  least?: number
  /** Left out where the terminal is too narrow, the greatest number first. */
  spare?: number
  colour?: (row: Row) => Colour | undefined
}

/** The last column. `fraction` is from 0 to 1; null for a row without a bar. */
export interface Bars<Row> {
  fraction: (row: Row) => number | null
  colour?: (row: Row) => Colour
}

const GAP = 2
const LEAST_BAR = 10
const GREATEST_BAR = 40
/** Columns of a text that most names fit. */
const LEGIBLE = 24
/** Without a terminal. */
const USUAL_BAR = 20

/** Rows as a table in full; the text `none` when there are no rows. */
export function table<Row extends object>(
  rows: readonly Row[],
  names: readonly (keyof Row & string)[],
  none: string,
): string {
  if (rows.length === 0) return none
  const columns = names.map((name) => ({ head: name.toUpperCase(), value: (row: Row) => row[name] }))
  return draw({ width: null, colour: false, unicode: true }, rows, columns)
}

/** Rows as a table with a line of names above, and bars behind where there is room for them. */
export function draw<Row>(
  screen: Screen,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  bars: Bars<Row> = { fraction: () => null },
): string {
  const all = columns.map((column) => ({ column, cells: rows.map((row) => cellOf(column.value(row))) }))
  const { shown, barWidth } = fit(screen.width, all)
  const heads = shown.map(({ column, width }) => pad(cutToWidth(column.head, width), width, sideOf(column)))
  const lines = rows.map((row, index) => {
    const cells = shown.map(({ column, cells: texts, width }) => {
      const text = pad(cutToWidth(texts[index] ?? '', width), width, sideOf(column))
      return paint(screen, text, column.colour?.(row))
    })
    const fraction = barWidth === 0 ? null : bars.fraction(row)
    const bar = fraction === null ? '' : barOf(screen, fraction, barWidth)
    return [...cells, paint(screen, bar, bars.colour?.(row) ?? 'cyan')].join(' '.repeat(GAP)).trimEnd()
  })
  return [paint(screen, heads.join(' '.repeat(GAP)).trimEnd(), 'bold'), ...lines].join('\n')
}

const sideOf = ({ right }: { right?: boolean }) => (right === true ? 'right' : 'left')

interface Measured<Row> {
  column: Column<Row>
  cells: string[]
  width: number
}

/** Leaves out and cuts columns until they fit beside the shortest bar; without bars where that is not enough. */
function fit<Row>(width: number | null, all: readonly Omit<Measured<Row>, 'width'>[]) {
  let shown = all.map((one) => ({
    ...one,
    width: Math.max(...[one.column.head, ...one.cells].map((text) => Bun.stringWidth(text))),
  }))
  if (width === null) return { shown, barWidth: USUAL_BAR }
  const room = (barWidth: number) => width - barWidth - GAP * (shown.length - (barWidth === 0 ? 1 : 0))
  const used = () => shown.reduce((sum, one) => sum + one.width, 0)
  const cuttable = (one: Measured<Row>) => Math.max(0, one.width - (one.column.least ?? one.width))
  // columns are left out before a text has less than LEGIBLE
  const couldUse = () =>
    used() - shown.reduce((sum, one) => sum + Math.min(cuttable(one), Math.max(0, one.width - LEGIBLE)), 0)
  while (couldUse() > room(LEAST_BAR)) {
    const next = shown.toSorted((a, b) => (b.column.spare ?? 0) - (a.column.spare ?? 0))[0]
    if (next?.column.spare === undefined) break
    shown = shown.filter((one) => one !== next)
  }
  const least = used() - shown.reduce((sum, one) => sum + cuttable(one), 0)
  const shortest = least <= room(LEAST_BAR) ? LEAST_BAR : 0
  for (let over = used() - room(shortest); over > 0; over -= 1) {
    const widest = shown.filter((one) => cuttable(one) > 0).toSorted((a, b) => b.width - a.width)[0]
    if (widest === undefined) break
    widest.width -= 1
  }
  return { shown, barWidth: shortest === 0 ? 0 : Math.min(GREATEST_BAR, room(0) - used() - GAP) }
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The text in at most `width` columns of a terminal; an ellipsis stands for what is left out. */
export function cutToWidth(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let head = ''
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    used += Bun.stringWidth(segment)
    if (used > width - 1) break
    head += segment
  }
  return `${head}…`
}

/** A whole column and its eighths. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** A bar of at most `width` columns; what is more than nothing has an eighth of a column at least. */
export function barOf({ unicode }: Screen, fraction: number, width: number): string {
  const exact = Math.min(1, Math.max(0, fraction)) * width * 8
  if (!unicode) return '#'.repeat(Math.ceil(exact / 8))
  const eighths = exact > 0 ? Math.max(1, Math.round(exact)) : 0
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '')
}

const LEVELS = '▁▂▃▄▅▆▇█'
const ASCII_LEVELS = '_.:-=+*#'

/** Characters of a sparkline at most: of more values the means of neighbours. */
const MOST_LEVELS = 60

/** A line of one character for each value, from none to the largest; what is more than nothing is above the lowest. */
export function sparkOf({ unicode }: Screen, values: readonly number[]): string {
  const levels = unicode ? LEVELS : ASCII_LEVELS
  const each = Math.ceil(values.length / MOST_LEVELS)
  const means = Array.from({ length: Math.ceil(values.length / each) }, (_, index) => {
    const part = values.slice(index * each, (index + 1) * each)
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const greatest = Math.max(...means)
  return means
    .map((mean) => levels[mean > 0 ? Math.max(1, Math.round((mean / greatest) * 7)) : 0] ?? '')
    .join('')
}
