import { messageOf } from '../../base/errors.ts'
import { randomLowerAlnum } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { ReconnectingPool } from '../../database/pools/reconnecting-pool.ts'
import {
  countBeat,
  deleteEnded,
  deleteWorker,
  findSession,
  insertWorker,
  listWorkers,
  lockWorker,
  type Session,
  type WorkerRow,
} from '../outbox/workers.ts'

// A worker's row says that it runs, and each worker looks at the rows of the others. What one that ended had in
// flight is then sent by the others, or by its own next start, within two seconds, and not only after the leases.
// A worker whose process is stopped keeps its session and with it the lock: its leases hold.

/** The time between two looks, and between two heartbeats behind a pooler. */
const LOOK_MS = 400
/** Looks in a row without a sign of life: 0.8 to 1.2 s after the end, 1.2 to 1.6 s where it was a heartbeat. */
const MAX_MISSED = 3
/**
 * Looks that expire nobody, after the connection was lost: in a restart of PostgreSQL the others lose theirs
 * too, and take their locks again within about 2 s.
 */
const LOOKS_OF_GRACE = 10

interface PresenceDeps {
  /** One connection that stays open and is used for nothing else. */
  pool: Pick<ReconnectingPool, 'run'>
  /** Called when what another worker had in flight is due, and when this one may claim again. */
  onChange: () => void
  log: Log
}

/** Keeps a row for this worker and deletes those of workers that have ended, until `close`; never rejects. */
export function startPresence({ pool, onChange, log }: PresenceDeps) {
  const id = randomLowerAlnum(16)
  const started = Promise.withResolvers<void>()
  const closing = Promise.withResolvers<void>()
  let isClosing = false
  let session: Session | undefined
  let isPresent = false
  let looksOfGrace = 0
  let missedBy: ReadonlyMap<string, Missed> = new Map()

  /** Holds the lock and has the row, or counts a heartbeat. False while another session has the lock. */
  const appear = async (): Promise<Session | undefined> => {
    const current = session ?? (await pool.run(findSession))
    session = current
    if (!current.isDirect) await pool.run((sql) => countBeat(sql, id))
    else if (!isPresent) {
      // another worker may look at this moment whether it is free, or a lost session may still have it
      if (!(await pool.run((sql) => lockWorker(sql, id)))) return undefined
      await pool.run((sql) => insertWorker(sql, id))
    }
    return current
  }
  const look = async () => {
    const current = await appear()
    const { rows, pid } = await pool.run((sql) => listWorkers(sql, id))
    if (current?.isDirect === true && current.pid !== pid) throw new Error('the session has ended')
    const wasPresent = isPresent
    // absent where another worker took this one for ended
    isPresent = current !== undefined && rows.some((row) => row.id === id)
    if (isPresent && !wasPresent) onChange()
    await expireSilentWorkers(rows.filter((row) => row.id !== id))
  }
  const expireSilentWorkers = async (others: readonly WorkerRow[]) => {
    if (looksOfGrace > 0) {
      looksOfGrace -= 1
      return
    }
    missedBy = new Map(others.map((row) => [row.id, missedOf(row, missedBy.get(row.id))]))
    const silent = others.filter((row) => (missedBy.get(row.id)?.looks ?? 0) >= MAX_MISSED)
    let isChanged = false
    for (const row of silent) {
      if (!(await pool.run((sql) => deleteEnded(sql, row)))) continue
      isChanged = true
      log.warn('a worker ended without settling its deliveries; they are sent again', { worker: row.id })
    }
    if (isChanged) onChange()
  }
  const loseSession = (error: unknown) => {
    // once, not at every look
    if (session !== undefined) {
      log.rarely('warn', 'the session of this worker was lost; trying again', { error: messageOf(error) })
      looksOfGrace = LOOKS_OF_GRACE
    }
    session = undefined
    isPresent = false
    missedBy = new Map()
  }
  const run = async () => {
    while (!isClosing) {
      await look().catch(loseSession)
      started.resolve()
      await Promise.race([Bun.sleep(LOOK_MS), closing.promise])
    }
  }
  const running = run()
  return {
    /** The id for claims; null while the row is not known to be there: the lease alone protects a claim then. */
    id: (): string | null => (isPresent ? id : null),
    /** Resolves after the first look, also when that failed. */
    started: started.promise,
    /** Deletes the row; nothing may be in flight. */
    async close() {
      isClosing = true
      closing.resolve()
      await running
      // if it fails, another worker deletes the row
      if (isPresent) await pool.run((sql) => deleteWorker(sql, id)).catch(() => {})
    },
  }
}

/** The last sign of life of another worker, and the number of looks in a row without one. */
interface Missed {
  beats: string | null
  looks: number
}

function missedOf({ beats, is_free }: WorkerRow, before: Missed | undefined): Missed {
  const isAlive = beats === null ? is_free === false : beats !== before?.beats
  return { beats, looks: isAlive ? 0 : (before?.looks ?? 0) + 1 }
}
