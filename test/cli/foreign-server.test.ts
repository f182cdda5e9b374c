import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { makeKey } from '../../src/accounts/keys/format.ts'
import { keepLogin } from '../../src/cli/client/login-file.ts'
import { movedText } from '../../src/cli/sync/summary.ts'
import { scratchFolder } from '../support/at-end.ts'
import { readUntil, run, startProgram } from '../support/cli.ts'
import { listening } from '../support/ports.ts'

// The client meets a server that is not ours, or that does not answer.

setDefaultTimeout(180_000)
const MAX_RSS_BYTES = 160_000_000
const MIB = 1024 * 1024
const folder = scratchFolder()
const { key } = makeKey()
const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})
afterAll(() => folder.remove())

/** A server that gives each request to `answer`, with its path; returns the environment of a client that uses it. */
async function serverThat(answer: (socket: Socket, path: string) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      const path = /^(?:GET|POST) (\S+)/.exec(data.toString('latin1'))?.[1]
      if (path !== undefined) answer(socket, path)
    })
  })
  server.on('close', () => {
    for (const socket of sockets) socket.destroy()
  })
  open.push(server)
  const port = await listening(server)
  return {
    DATA_DIR: folder.path,
    XDG_STATE_HOME: join(folder.path, `state-${port}`),
    CLOUD_ANALYTICS_SERVER: `http://127.0.0.1:${port}`,
    CLOUD_ANALYTICS_KEY: key,
  }
}

const respond = (socket: Socket, status: string, body: string | Buffer, ...headers: string[]) => {
  const lines = [`HTTP/1.1 ${status}`, `content-length: ${body.length}`, ...headers]
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]))
}

test.each(['[null]', 'null', '1', '{"status":"ok"}', '<html>'])(
  'figures of a server that answers %p are none, and why is said',
  async (body) => {
    const env = await serverThat((socket) => respond(socket, '200 OK', body))
    const commands = ['cost', 'cost --by model', 'sessions', 'quality', 'risk', 'outcomes', 'team']
    for (const words of commands) {
      const { code, stdout, stderr } = await run(words.split(' '), env)
      expect({ words, code, stdout, stderr }).toEqual({
        ...{ words, code: 1, stdout: '' },
        stderr: `error: what answers on ${env.CLOUD_ANALYTICS_SERVER} (200) is not Cloud Analytics: is the address right?\n`,
      })
    }
    if (body.startsWith('{')) return
    expect((await run(['cost', '--json'], env)).code).toBe(1)
  },
)

const transcripts = join(folder.path, 'transcripts')
const line = {
  type: 'assistant',
  sessionId: 'one',
  uuid: 'u',
  timestamp: '2026-11-20T10:00:00.000Z',
  cwd: '/shop',
  message: {
    id: 'm',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
await Bun.write(join(transcripts, 'one.jsonl'), `${JSON.stringify(line)}\n`)

const OWNER = JSON.stringify({
  organization: { id: 'org_1', slug: 'acme', name: 'Acme', plan: 'cloud_team' },
  key: { id: 'k', name: 'k', scopes: ['write'], expires_at: null, member: null },
  limits: { read: 1, sync: 1 },
})
/** Answers for the key, and gives every other request to `answer`. */
const ourKey = (answer: (socket: Socket) => void) => (socket: Socket, path: string) =>
  path === '/v1/whoami' ? respond(socket, '200 OK', OWNER) : answer(socket)

const COMMANDS = [['sync', transcripts], ['login'], ['whoami'], ['cost'], ['health', '--url']]
const commandOf = (words: string[], env: Record<string, string>) =>
  words.at(-1) === '--url' ? [...words, env.CLOUD_ANALYTICS_SERVER ?? ''] : words

/** 256 MiB of zeros. Not packed here: a child's memory counts from that of its parent. */
const packed = Bun.spawnSync(['sh', '-c', 'head -c 268435456 /dev/zero | gzip -9']).stdout

/** The most memory that a process had so far, in bytes; undefined when it has ended. */
function peakOf(pid: number): number | undefined {
  try {
    const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kib === undefined ? undefined : Number(kib) * 1024
  } catch {
    return undefined
  }
}

describe.each(COMMANDS)('%s', (...words) => {
  const runMeasured = async (env: Awaited<ReturnType<typeof serverThat>>) => {
    const child = startProgram(commandOf(words, env), env)
    let rss = 0
    const look = setInterval(() => {
      rss = peakOf(child.pid) ?? rss
    }, 10)
    const [stderr, code] = await Promise.all([child.stderr.text(), child.exited])
    clearInterval(look)
    return { code, stderr, rss }
  }

  test('reads an answer without an end up to its limit', async () => {
    const env = await serverThat((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
      const blanks = Buffer.alloc(MIB, ' ')
      const go = () => {
        while (socket.writable && socket.write(blanks));
        if (socket.writable) socket.once('drain', go)
      }
      go()
    })
    const { code, stderr, rss } = await runMeasured(env)
    expect(code).toBe(1)
    expect(stderr).toContain(words[0] === 'health' ? 'does not answer' : 'is longer than 32 MiB')
    expect(rss).toBeWithin(1, MAX_RSS_BYTES)
  })

  test('does not unpack an answer', async () => {
    const env = await serverThat((socket) =>
      respond(socket, '200 OK', packed, 'content-type: application/json', 'content-encoding: gzip'),
    )
    const { code, stderr, rss } = await runMeasured(env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/is not Cloud Analytics|an answer that is not ours|does not answer/)
    expect(rss).toBeWithin(1, MAX_RSS_BYTES)
  })
})

test.each(COMMANDS.slice(0, 4))('%s names the address that a redirect leads to', async (...words) => {
  const env = await serverThat((socket) =>
    respond(socket, '302 Found', 'null', 'location: https://elsewhere.example/'),
  )
  const { code, stderr } = await run(words, env)
  expect(code).toBe(1)
  expect(stderr).toContain('redirects to https://elsewhere.example/: give the address that it leads to')
})

const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

test('mcp over standard input follows no redirect, which would take the key elsewhere', async () => {
  const asked: string[] = []
  const elsewhere = await serverThat((socket, path) => {
    asked.push(path)
    respond(socket, '200 OK', '{}')
  })
  const location = `location: ${elsewhere.CLOUD_ANALYTICS_SERVER}/mcp`
  const env = await serverThat((socket) => respond(socket, '307 Temporary Redirect', '', location))
  const { stdout } = await run(['mcp'], env, `${CALL}\n`)
  expect(JSON.parse(stdout)).toMatchObject({
    id: 1,
    error: { message: expect.stringContaining(`redirects to ${elsewhere.CLOUD_ANALYTICS_SERVER}/mcp`) },
  })
  expect(asked).toEqual([])
})

test('mcp over standard input does not unpack an answer', async () => {
  const env = await serverThat((socket) =>
    respond(socket, '200 OK', packed, 'content-type: application/json', 'content-encoding: gzip'),
  )
  const child = startProgram(['mcp'], env, new Blob([`${CALL}\n`]))
  let rss = 0
  const look = setInterval(() => {
    rss = peakOf(child.pid) ?? rss
  }, 10)
  const [stdout, code] = await Promise.all([child.stdout.text(), child.exited])
  clearInterval(look)
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { id: 1, error: {} }])
  expect(rss).toBeWithin(1, MAX_RSS_BYTES)
})

/** Controls that a terminal obeys: all but tab and line feed. */
const CONTROLS = /(?![\t\n])\p{Cc}/u
const NOT_FOUND = JSON.stringify({ error: 'no such route', code: 'NOT_FOUND' })
const EVIL = '\u001b]0;title\u0007\u009b31m'

test('controls of a server reach neither a terminal nor a program that prints them', async () => {
  const figures = { cost: 1, sessions: 1 }
  const exceeded = { status: 'exceeded', limit: 1, current_cost: 2, percent_used: 200, scope: { team: EVIL } }
  const budget = { ...exceeded, period_start: EVIL, projected_cost: 3, projected_exceed_date: EVIL }
  const summary = {
    ...{ total_cost: 1, current_month: 1, unpriced_tokens: 1, current_budget: budget },
    by_period: [{ period: '2026-11-01', ...figures }],
    by_project: [{ project: EVIL, ...figures }],
  }
  // U+009B as it is: JSON need not escape it
  const answers: Record<string, string> = {
    '/v1/cost': JSON.stringify(summary),
    '/v1/budgets/mine': JSON.stringify({ action: 'warn', budgets: [exceeded] }),
    '/mcp': JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: EVIL } }),
  }
  const env = await serverThat((socket, path) => {
    const body = answers[path.replace(/\?.*/, '')]
    respond(socket, body === undefined ? '404 Not Found' : '200 OK', Buffer.from(body ?? NOT_FOUND))
  })
  const home = { ...env, XDG_CONFIG_HOME: join(folder.path, 'config') }
  keepLogin(home, { server: env.CLOUD_ANALYTICS_SERVER, key, member: null })
  const cost = await run(['cost'], env)
  expect([cost.code, cost.stderr]).toEqual([0, ''])
  expect(cost.stdout).toContain('title')
  const hook = await run(['hook', 'budget', 'claude'], home, JSON.stringify({ cwd: folder.path }))
  expect(hook.stdout).toContain('title')
  const mcp = await run(['mcp'], env, `${CALL}\n`)
  expect(mcp.stdout).toContain('title')
  for (const text of [cost.stdout, hook.stdout, JSON.parse(hook.stdout).systemMessage, mcp.stdout])
    expect(text).not.toMatch(CONTROLS)
})

test('names of projects are words for a shell where a command is to be pasted', () => {
  const text = movedText({ from: '$(touch x)', to: "a'b", sessions: 1 })
  expect(text).toContain(`project rename '$(touch x)' 'a'\\''b' --org SLUG`)
})

test.each(['null', '[]', '{"organization":null}', '{"error":{},"details":7}', 'x'])(
  'an answer %s is one of another program',
  async (body) => {
    for (const status of ['200 OK', '400 Bad Request']) {
      const env = await serverThat((socket) => respond(socket, status, body))
      for (const words of COMMANDS.slice(0, 3)) {
        const { code, stderr } = await run(words, env)
        expect(code).toBe(1)
        expect(stderr).toMatch(/is not Cloud Analytics|an answer that is not ours/)
      }
    }
  },
)

test.each([
  [
    'the rate limit',
    ourKey((socket) => respond(socket, '429 Too Many', '', 'retry-after: 100')),
    'waiting 1',
  ],
  [
    'the next attempt',
    ourKey((socket) => respond(socket, '503 Busy', '', 'retry-after: 100')),
    'trying again',
  ],
])('one SIGTERM ends the wait for %s', async (_what, answer, sign) => {
  const env = await serverThat(answer)
  const child = startProgram(['sync', transcripts], env)
  const said = await readUntil(child.stderr, sign)
  expect(said).toContain(sign)
  const sentMs = performance.now()
  child.kill('SIGTERM')
  expect(await child.exited).toBe(1)
  // the wait is 100 s
  expect(performance.now() - sentMs).toBeLessThan(50_000)
})

test('one SIGTERM ends a request that is not answered, some seconds later', async () => {
  const asked = Promise.withResolvers<void>()
  const env = await serverThat(ourKey(() => asked.resolve()))
  const child = startProgram(['sync', transcripts], env)
  await asked.promise
  child.kill('SIGTERM')
  expect(await child.exited).toBe(1)
  expect(await child.stderr.text()).toContain('stopped by SIGTERM')
})
