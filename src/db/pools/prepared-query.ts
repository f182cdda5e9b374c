import type { Socket } from 'bun'
import { withTimeout } from '../../timeout.ts'
import { type ConnectTarget, socketPath } from '../client.ts'
import type { PoolLoad } from './reconnecting-pool.ts'

// A statement that nearly every request waits for, over a connection of its own, in PostgreSQL's protocol
// (postgresql.org/docs/current/protocol-message-formats.html). The driver takes 60 µs of processor time for such a
// statement, 22 of them in the system call that sends it; this takes 30. Only for the embedded PostgreSQL, which takes
// neither password nor TLS.

/** Rows of texts, as the statement's columns. */
type Rows = string[][]

export interface PreparedQuery {
  /**
   * The rows for this parameter. Rejects, with the code as `isConnectionError` knows it, when the connection cannot be
   * opened, is lost, or gives no answer in time; the next call opens another.
   */
  run(parameter: string): Promise<Rows>
  /** Ends the connection; later calls reject. */
  end(): void
  load(): PoolLoad
}

interface PreparedQueryOptions {
  /** With one parameter, $1, and columns that are never null. */
  statement: string
  applicationName: string
  /** For a call, and for the statement in PostgreSQL, which does not notice that nobody waits for it. */
  limitMs: number
  /** Called when a call got no answer in time. */
  onSilent?: () => void
}

const PROTOCOL = 0x0003_0000
const NAME = 'prepared'
const LATE = Symbol('late')
const HEADER = 5
const code = (letter: string) => letter.charCodeAt(0)
const DATA_ROW = code('D')
const ERROR = code('E')
const READY = code('Z')

const int16 = (value: number) => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const text = (value: string) => Buffer.from(`${value}\0`)
const message = (type: string, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}
const NONE = int16(0)
const SYNC = message('S')
const EXECUTE = message('E', text(''), int32(0))

const startUp = (settings: Record<string, string>) =>
  message('', int32(PROTOCOL), ...Object.entries(settings).flat().map(text), Buffer.from([0]))
const parse = (statement: string) => message('P', text(NAME), text(statement), NONE)
const bind = (parameter: string) => {
  const bytes = Buffer.from(parameter)
  return message('B', text(''), text(NAME), NONE, int16(1), int32(bytes.length), bytes, NONE)
}

/** The texts of a DataRow, whose message begins at `start`. */
function rowAt(bytes: Buffer, start: number): string[] {
  const row: string[] = []
  let at = start + HEADER + 2
  for (let left = bytes.readInt16BE(start + HEADER); left > 0; left -= 1) {
    const end = at + 4 + bytes.readInt32BE(at)
    row.push(bytes.toString('utf8', at + 4, end))
    at = end
  }
  return row
}

/** What an ErrorResponse says. */
function errorOf(body: string): Error {
  const fields = new Map(body.split('\0').map((field) => [field.slice(0, 1), field.slice(1)]))
  return Object.assign(new Error(fields.get('M') ?? 'the database refused a statement'), {
    code: fields.get('C'),
  })
}

const connectionError = (message: string, code: string) => Object.assign(new Error(message), { code })
const closed = () => connectionError('the connection was closed', 'CONNECTION_CLOSED')

/** What was sent and waits for its ReadyForQuery. */
interface Pending {
  rows: Rows
  error?: Error
  done: PromiseWithResolvers<Rows>
}

interface Connection {
  /** Sends messages that end with SYNC, or begin the session; what they result in. */
  send(bytes: Buffer): Promise<Rows>
  /** Also while it is opened. */
  end(): void
}

/** Opens a connection; `onClose` is called once, when it cannot be opened, is lost or ended. */
function open(path: string, onClose: () => void): Connection {
  const pending: Pending[] = []
  let socket: Socket | undefined
  let isClosed = false
  let received: Buffer = Buffer.alloc(0)
  let unsent: Buffer = Buffer.alloc(0)

  const handle = (type: number, start: number, end: number) => {
    const [first] = pending
    if (first === undefined) return
    if (type === DATA_ROW) first.rows.push(rowAt(received, start))
    else if (type === ERROR) first.error = errorOf(received.toString('utf8', start + HEADER, end))
    else if (type === READY) {
      pending.shift()
      if (first.error === undefined) first.done.resolve(first.rows)
      else first.done.reject(first.error)
    }
  }
  const data = (_socket: Socket, bytes: Buffer) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes])
    let start = 0
    while (start + HEADER <= received.length) {
      const end = start + 1 + received.readInt32BE(start + 1)
      if (end > received.length) break
      handle(received[start] ?? 0, start, end)
      start = end
    }
    received = received.subarray(start)
  }
  const close = (reason: Error) => {
    if (isClosed) return
    isClosed = true
    for (const { error, done } of pending.splice(0)) done.reject(error ?? reason)
    onClose()
  }
  const flush = () => {
    if (socket !== undefined) unsent = unsent.subarray(Math.max(0, socket.write(unsent)))
  }
  const opened = (made: Socket) => {
    if (isClosed) {
      made.terminate()
      return
    }
    socket = made
    flush()
  }
  Bun.connect({
    unix: path,
    socket: {
      open: opened,
      data,
      drain: flush,
      close: () => close(closed()),
      error: (_socket, error) => close(error),
    },
  }).catch(close)
  return {
    send(bytes) {
      const done = Promise.withResolvers<Rows>()
      if (isClosed) done.reject(closed())
      else {
        pending.push({ rows: [], done })
        unsent = unsent.length === 0 ? bytes : Buffer.concat([unsent, bytes])
        flush()
      }
      return done.promise
    },
    end() {
      close(closed())
      socket?.terminate()
    },
  }
}

/** Opens its connection with the first call. */
export function createPreparedQuery(
  { socketDir, user, database }: Extract<ConnectTarget, { socketDir: string }>,
  { statement, applicationName, limitMs, onSilent }: PreparedQueryOptions,
): PreparedQuery {
  const settings = {
    application_name: applicationName,
    statement_timeout: `${limitMs}`,
    plan_cache_mode: 'force_generic_plan',
  }
  let current: { connection: Connection; ready: Promise<Rows> } | undefined
  let isEnded = false
  let inFlight = 0
  const connect = () => {
    const connection = open(socketPath(socketDir), () => {
      if (current?.connection === connection) current = undefined
    })
    const ready = connection
      .send(startUp({ user, database, ...settings }))
      .then(() => connection.send(Buffer.concat([parse(statement), SYNC])))
    return { connection, ready }
  }
  const send = async (
    { connection, ready }: NonNullable<typeof current>,
    parameter: string,
  ): Promise<Rows> => {
    await ready
    return await connection.send(Buffer.concat([bind(parameter), EXECUTE, SYNC]))
  }
  return {
    async run(parameter) {
      if (isEnded) throw connectionError('the connection was ended', 'CONNECTION_ENDED')
      current ??= connect()
      const used = current
      inFlight += 1
      try {
        const rows = await withTimeout(send(used, parameter), limitMs, LATE)
        if (rows !== LATE) return rows
        onSilent?.()
        throw connectionError(`the database gave no answer in ${limitMs} ms`, 'ETIMEDOUT')
      } catch (error) {
        used.connection.end()
        throw error
      } finally {
        inFlight -= 1
      }
    },
    end() {
      isEnded = true
      current?.connection.end()
    },
    load: () => ({ max: 1, used: Math.min(1, inFlight), waiting: Math.max(0, inFlight - 1) }),
  }
}
