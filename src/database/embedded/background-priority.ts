import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Sql } from '../client.ts'

/** A third of the processor time of a process that wants it too (sched(7), weights 335 and 1,024). A tenth, by 10, left others no more. */
const NICE = 5
/** A process is found by the name of its connection, which PostgreSQL knows when it has accepted it. */
const ACCEPTED_MS = 1_000
/** Linux takes one value for a group in this time from who is not root. */
const GROUP_MS = 100

/**
 * Returns a function to call when a connection is opened whose `application_name` begins with one of `names`: a second later
 * the embedded server's processes behind such connections give way to the others where processors are short. Six statements
 * of half a second on two processors leave twice as many short ones a second so.
 */
export function createBackgroundPriority(sql: Sql, names: readonly string[]): () => void {
  let isPlanned = false
  let isAskedAgain = false
  const lower = async () => {
    // nobody waits for it, and the statements that somebody waits for report a database that fails
    const rows = await sql<{ pid: number }[]>`
      select a.pid
      from pg_stat_activity a
      where exists (select from unnest(${names}::text[]) name where starts_with(a.application_name, name))`.catch(
      () => [],
    )
    for (const { pid } of rows) {
      setBackground(pid)
      await Bun.sleep(GROUP_MS)
    }
    isPlanned = false
    if (isAskedAgain) plan()
  }
  const plan = () => {
    isAskedAgain = isPlanned
    if (!isPlanned) setTimeout(() => void lower(), ACCEPTED_MS).unref()
    isPlanned = true
  }
  return plan
}

function setBackground(pid: number): void {
  try {
    setPriority(pid, NICE)
    // each process of PostgreSQL is a session, and Linux divides processors among the groups of sessions where it has them
    writeFileSync(`/proc/${pid}/autogroup`, String(NICE))
  } catch {
    // the process has ended, or the system has no such groups
  }
}
