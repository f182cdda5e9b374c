import type { Sql } from './client.ts'

type PingAnswer = 'ok' | 'unreachable' | 'no answer in time'

interface PingLimits {
  /** How long one who asks waits. */
  limitMs: number
  /** After so long a question is given up for lost: its connection may be half open, the next question takes another. */
  giveUpMs: number
}

/**
 * Asks whether the database answers, one question at a time, however often it is called: probes must not queue up before
 * a database that hangs. Never rejects.
 */
export function createPing(sql: Sql, { limitMs, giveUpMs }: PingLimits): () => Promise<PingAnswer> {
  let asked: { answer: Promise<PingAnswer>; at: number } | undefined
  return () => {
    if (asked === undefined || performance.now() - asked.at > giveUpMs) {
      const question = { answer: ask(sql), at: performance.now() }
      asked = question
      void question.answer.then(() => {
        if (asked === question) asked = undefined
      })
    }
    return within(limitMs, asked.answer)
  }
}

const ask = (sql: Sql): Promise<PingAnswer> =>
  sql`select 1`.then(
    () => 'ok',
    () => 'unreachable',
  )

async function within(limitMs: number, answer: Promise<PingAnswer>): Promise<PingAnswer> {
  const late = Promise.withResolvers<PingAnswer>()
  const timer = setTimeout(late.resolve, limitMs, 'no answer in time')
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
