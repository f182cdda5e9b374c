import type { Sql } from './client.ts'

type PingAnswer = 'ok' | 'unreachable' | 'no answer in time'

interface PingLimits {
  /** How long one who asks waits. */
  limitMs: number
  /** After so long a question is given up for lost: its connection may be half open, the next question takes another. */
  giveUpMs: number
}

export interface Ping {
  /** Never rejects. */
  ask(): Promise<PingAnswer>
  /** The server's process that the last question went to, by its id; null while it has not gone out. */
  backend(): number | null
}

/**
 * Asks whether the database answers, one question at a time, however often it is called: probes must not queue up before
 * a database that hangs.
 */
export function createPing(sql: Sql, { limitMs, giveUpMs }: PingLimits): Ping {
  let asked: { answer: Promise<PingAnswer>; backend: () => number | null; at: number } | undefined
  return {
    ask() {
      if (asked === undefined || performance.now() - asked.at > giveUpMs) {
        const question = { ...ask(sql), at: performance.now() }
        asked = question
        void question.answer.then(() => {
          if (asked === question) asked = undefined
        })
      }
      return within(limitMs, asked.answer)
    },
    backend: () => asked?.backend() ?? null,
  }
}

/** Where the driver keeps by what a query could be cancelled; its types do not tell. */
type Sent = { state: { pid: number | null } | null }

function ask(sql: Sql) {
  const query = sql`select 1`
  const answer = query.then(
    (): PingAnswer => 'ok',
    (): PingAnswer => 'unreachable',
  )
  return { answer, backend: () => (query as unknown as Sent).state?.pid ?? null }
}

/** The answer, or that there is none within the limit. */
async function within(limitMs: number, answer: Promise<PingAnswer>): Promise<PingAnswer> {
  const late = Promise.withResolvers<PingAnswer>()
  const timer = setTimeout(late.resolve, limitMs, 'no answer in time')
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
