import type { ISql } from '../../database/client.ts'
import { readDigest } from './digest-queries.ts'
import { digestMessage } from './message.ts'
import type { Notice } from './notice.ts'
import type { Rule } from './rule-queries.ts'

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
