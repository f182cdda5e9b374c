import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { EXECUTABLE } from '../support/program.ts'

/** The server must have this of a session when all of it has arrived. */
export interface ExpectedSession {
  id: string
  email: string
  prompts: number
  messages: number
  output: number
}

/** One developer's machine: a home folder with sessions that grow, and `watch`. */
export interface Laptop {
  email: string
  /** Adds a turn to its session; begins another session after `SESSION_TURNS`. */
  work(): void
  /** True between two sessions, for some 40 s. */
  isResting(nowMs: number): boolean
  sessions(): ExpectedSession[]
  /** Process id of its `watch`. */
  start(): number
  /** Kills `watch` as the system does. */
  kill(): Promise<void>
  /** SIGTERM; the exit code. */
  stop(): Promise<number>
  pid(): number
}

const SESSION_TURNS = 12
const REST_MS = 40_000

export function createLaptop(root: string, number: number, server: string, key: string): Laptop {
  const email = `dev${number}@example.com`
  const home = join(root, `laptop-${number}`)
  const project = join(home, '.claude', 'projects', '-home-dev-shop')
  mkdirSync(project, { recursive: true })
  const sessions: ExpectedSession[] = []
  let restUntilMs = 0
  let child: Bun.Subprocess | undefined

  const append = (session: ExpectedSession, lines: readonly object[]) => {
    const shared = { sessionId: session.id, cwd: '/home/dev/shop', gitBranch: 'main', version: '2.1.7' }
    const text = lines.map((line) => `${JSON.stringify({ ...shared, ...line })}\n`).join('')
    appendFileSync(join(project, `${session.id}.jsonl`), text)
  }
  return {
    email,
    work() {
      let session = sessions.at(-1)
      if (session === undefined || session.messages >= SESSION_TURNS) {
        session = { id: `laptop-${number}-${sessions.length}`, email, prompts: 0, messages: 0, output: 0 }
        sessions.push(session)
      }
      const nth = session.messages
      const at = { timestamp: new Date().toISOString() }
      const output = 100 + nth
      const uuid = `${session.id}-${nth}`
      const message = {
        id: `msg_${uuid}`,
        role: 'assistant',
        model: 'claude-sonnet-4-5-20250929',
        content: [{ type: 'text', text: 'The test passes now. '.repeat(200) }],
        usage: { input_tokens: 10, output_tokens: output, cache_read_input_tokens: 1_000 },
      }
      append(session, [
        { ...at, type: 'user', uuid: `${uuid}-u`, message: { role: 'user', content: `Step ${nth}` } },
        { ...at, type: 'assistant', uuid: `${uuid}-a`, requestId: `req_${uuid}`, message },
      ])
      session.prompts += 1
      session.messages += 1
      session.output += output
      if (session.messages >= SESSION_TURNS) restUntilMs = Date.now() + REST_MS
    },
    isResting: (nowMs) => nowMs < restUntilMs,
    sessions: () => sessions,
    start() {
      child = Bun.spawn([EXECUTABLE, 'watch'], {
        env: {
          PATH: process.env.PATH ?? '',
          HOME: home,
          CLOUD_ANALYTICS_SERVER: server,
          CLOUD_ANALYTICS_KEY: key,
        },
        stdio: ['ignore', 'ignore', Bun.file(join(home, 'watch.log'))],
      })
      return child.pid
    },
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
    },
    async stop() {
      child?.kill('SIGTERM')
      return (await child?.exited) ?? 0
    },
    pid: () => child?.pid ?? 0,
  }
}
