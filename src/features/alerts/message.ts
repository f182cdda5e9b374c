import { cut } from '../../base/text.ts'

// The messages that people read in Slack and Teams. Names come from users: Slack's marks are escaped, and Teams gets runs of text, in which
// nothing is a mark.

export interface Line {
  label: string
  text: string
  /** A page of the dashboard. */
  url: string | undefined
}

export interface Message {
  title: string
  lines: readonly Line[]
  url: string | undefined
}

/** Slack refuses a message with a longer one. */
const MAX_TITLE = 150
const MAX_TEXT = 1_000

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Block Kit, for an incoming webhook of Slack. */
export function slackBody({ title, lines, url }: Message): string {
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })
  const linked = (label: string, to: string | undefined) =>
    to === undefined ? escaped(label) : `<${escaped(to)}|${escaped(label)}>`
  return JSON.stringify({
    text: escaped(title),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(title, MAX_TITLE) } },
      ...lines.map((line) =>
        section(`*${linked(cut(line.label, MAX_TITLE), line.url)}* ${escaped(cut(line.text, MAX_TEXT))}`),
      ),
      ...(url === undefined ? [] : [section(linked('Open in the dashboard', url))]),
    ],
  })
}

/** An Adaptive Card in the message that a workflow of Teams takes. */
export function teamsBody({ title, lines, url }: Message): string {
  const open = (to: string) => ({ type: 'Action.OpenUrl', title: 'Open in the dashboard', url: to })
  const run = (text: string, more: object = {}) => ({ type: 'TextRun', text: cut(text, MAX_TEXT), ...more })
  const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines })
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      block(run(title, { size: 'Large', weight: 'Bolder' })),
      ...lines.map((line) =>
        block(
          run(line.label, {
            weight: 'Bolder',
            ...(line.url === undefined ? {} : { selectAction: open(line.url) }),
          }),
          run(` ${line.text}`),
        ),
      ),
    ],
    ...(url === undefined ? {} : { actions: [open(url)] }),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] })
}

export const BODIES = { slack: slackBody, teams: teamsBody } as const

/** The address of a page of the dashboard; undefined without PUBLIC_URL. */
export function pageUrl(
  publicUrl: string | null,
  page: string,
  query: Record<string, string> = {},
): string | undefined {
  if (publicUrl === null) return undefined
  const search = new URLSearchParams(query)
  return `${publicUrl.replace(/\/+$/, '')}/#/${page}${search.size === 0 ? '' : `?${search}`}`
}

const number = (digits: number) =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
const [whole, cents] = [number(0), number(2)]
export const dollars = (value: number): string => `$${cents.format(value)}`
export const plain = (value: number): string => (Number.isInteger(value) ? whole : cents).format(value)
