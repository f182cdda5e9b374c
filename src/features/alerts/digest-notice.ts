import type { ISql } from '../../database/client.ts'
import type { EventData } from '../../webhooks/outbox/catalogue.ts'
import { readDigest } from './digest-queries.ts'
import { dollars, type Line, type Message, pageUrl, plain } from './message.ts'
import type { Notice } from './notice.ts'
import type { Rule } from './rule-queries.ts'

type Data = EventData['digest.ready']

/** Names in a line. */
const LARGEST = 3

const largest = (parts: Data['by_model']): string =>
  parts
    .slice(0, LARGEST)
    .map(({ key, cost }) => `${key ?? 'none'} ${dollars(cost)}`)
    .join(', ') || 'none'

function comparedTo(cost: number, before: number): string {
  if (before === 0) return 'nothing in the week before'
  const percent = Math.round((100 * (cost - before)) / before)
  const change = percent === 0 ? 'as much as' : `${Math.abs(percent)} % ${percent > 0 ? 'more' : 'less'} than`
  return `${change} the week before`
}

/** The seven lines of a digest. */
export function digestMessage(name: string, data: Data, publicUrl: string | null): Message {
  const { from, to, cost, previous_cost, by_model, by_project, budget, pull_requests } = data
  const line = (label: string, text: string, page: string, query: Record<string, string> = {}): Line => ({
    ...{ label, text, url: pageUrl(publicUrl, page, { from, to, ...query }) },
  })
  const { average_quality: quality, new_findings: findings } = data
  const { merged } = pull_requests
  return {
    title: `${data.test ? 'Test of a digest' : name}: ${from} to ${to}`,
    lines: [
      line('Cost', `${dollars(cost)}, ${comparedTo(cost, previous_cost)}`, 'cost'),
      line('Models', largest(by_model), 'cost', { by: 'model' }),
      line('Projects', largest(by_project), 'cost', { by: 'project' }),
      line(
        'Budget',
        budget === null
          ? 'none is set'
          : `${dollars(budget.projected_cost)} expected this month, of ${dollars(budget.limit)}`,
        'cost',
      ),
      line(
        'Pull requests',
        `${plain(merged)} merged, whose sessions cost ${dollars(pull_requests.cost)}`,
        'outcomes',
      ),
      line('Quality', quality === null ? 'no sessions' : `${plain(quality)} on average`, 'quality'),
      line('Findings', `${plain(findings)} new`, 'findings'),
    ],
    url: pageUrl(publicUrl, ''),
  }
}

/** Makes the event and the message of a digest of this time. */
export async function digestNotice(
  sql: ISql,
  orgId: string,
  { id, definition }: Rule<'digest'>,
  { now, publicUrl, test }: { now: Date; publicUrl: string | null; test?: true },
): Promise<Notice> {
  const data = { ...(await readDigest(sql, orgId, id, now)), ...(test && { test }) }
  return {
    events: [{ event: 'digest.ready', data }],
    message: digestMessage(definition.name, data, publicUrl),
  }
}
