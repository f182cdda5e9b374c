import type { ISql, Sql } from '../db/client.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS } from '../decimals.ts'
import type { PreparedSession } from '../sync/prepare.ts'

/** COPY's text form of a value: https://www.postgresql.org/docs/18/sql-copy.html, "Text Format". */
const cell = (value: string | number | null): string =>
  value === null ? '\\N' : String(value).replace(/[\\\n\r\t]/g, (char) => COPY_ESCAPES[char] ?? char)

const COPY_ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const line = (values: readonly (string | number | null)[]): string => `${values.map(cell).join('\t')}\n`

/** Each write to the stream is a message of the protocol: many lines to one are twice as fast as one. */
const LINES_A_WRITE = 500

async function copyIn(stream: NodeJS.WritableStream, lines: readonly string[]): Promise<void> {
  const done = new Promise<void>((resolve, reject) => {
    stream.once('finish', resolve)
    stream.once('error', reject)
  })
  for (let start = 0; start < lines.length; start += LINES_A_WRITE) {
    const chunk = lines.slice(start, start + LINES_A_WRITE).join('')
    if (!stream.write(chunk)) await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), done])
  }
  stream.end()
  await done
}

/** Puts new sessions and their details in by COPY, rollups aside: three times as fast as the statements of sync. */
export async function copySessions(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  scoredAt: string,
): Promise<void> {
  await copyIn(
    await tx`
      copy sessions (
        org_id, id, project, created_at, turns, estimated_cost, quality_score, security_score, user_id, user_email, content_hash
      ) from stdin`.writable(),
    sessions.map((session) =>
      line([
        orgId,
        session.id,
        session.project,
        session.createdAt,
        session.turns,
        decimalText(session.cost, MONEY_DECIMALS),
        decimalText(session.quality, SCORE_DECIMALS),
        decimalText(session.security, SCORE_DECIMALS),
        session.userId,
        session.userEmail,
        `\\x${Buffer.from(session.hash).toString('hex')}`,
      ]),
    ),
  )
  await copyIn(
    await tx`copy session_details (org_id, session_id, detail) from stdin`.writable(),
    sessions.map((session) => {
      const detail = {
        ...session.detail,
        quality_metadata: { ...session.detail.quality_metadata, scored_at: scoredAt },
      }
      return line([orgId, session.id, JSON.stringify(detail)])
    }),
  )
}

/** Tells the planner of many new rows, and marks their pages visible, so that the first queries are as fast as later ones. */
export async function refreshStatistics(sql: Sql): Promise<void> {
  await sql`vacuum analyze sessions, session_details, session_rollups, findings, finding_rollups, file_rollups, file_risks`
}
