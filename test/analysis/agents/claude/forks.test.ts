import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createLineOwners } from '../../../../src/analysis/agents/transcript/line-owners.ts'
import type { SessionRecord } from '../../../../src/analysis/records/session.ts'
import { agentFiles, lines, merged } from '../reading.ts'

// Forks of Claude Code's sessions by `--fork-session`, `/branch` and the SDK, as several versions write them. Each line of the
// model is a call with an input of its own, so that a sum names the calls.

const { read, write } = agentFiles()

interface Line {
  type: string
  uuid: string
  sessionId: string
  timestamp: string
  [field: string]: unknown
}

const MODEL = 'claude-opus-4-5'
const at = (second: number) => new Date(Date.parse('2026-06-01T08:00:00.000Z') + second * 1_000).toISOString()

const prompt = (sessionId: string, second: number): Line => ({
  ...{ type: 'user', uuid: `u${second}`, sessionId, timestamp: at(second) },
  message: { role: 'user', content: `do ${second}` },
})
const call = (sessionId: string, second: number): Line => ({
  ...{ type: 'assistant', uuid: `a${second}`, sessionId, timestamp: at(second), requestId: `r${second}` },
  message: {
    ...{ id: `msg_${second}`, role: 'assistant', model: MODEL, content: [{ type: 'text', text: 'ok' }] },
    usage: { input_tokens: 2 ** second, output_tokens: 0 },
  },
})
const turn = (session: string, second: number) => [prompt(session, second - 1), call(session, second)]
const isOfModel = ({ type }: Line) => type === 'assistant'

const queued = (sessionId: string, second: number) => ({
  ...{ type: 'queue-operation', operation: 'enqueue', sessionId, timestamp: at(second) },
})
/** A terminal writes this before a prompt, some milliseconds after its time. */
const snapshot = (second: number) => ({
  type: 'file-history-snapshot',
  messageId: `u${second}`,
  snapshot: { messageId: `u${second}`, timestamp: at(second + 0.05) },
})
const stated = (sessionId: string, inputTokens: number) => ({
  ...{ type: 'cost-state', sessionId },
  modelUsage: {
    [MODEL]: { inputTokens, outputTokens: 0, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 },
  },
})

type Copy = (parent: readonly Line[], from: string, to: string) => Line[]
/** Before 2.1.328 nothing names the parent; from then on the lines of the model do. */
const copied: Copy = (parent, _from, to) => parent.map((line) => ({ ...line, sessionId: to }))
const asked: Copy = (parent, from, to) =>
  parent.map((line) => ({
    ...{ ...line, sessionId: to },
    ...(isOfModel(line) ? { requestSessionId: line.requestSessionId ?? from } : {}),
  }))
const branched: Copy = (parent, from, to) =>
  parent.map((line) => ({
    ...{ ...line, sessionId: to, forkedFrom: { sessionId: from, messageUuid: line.uuid } },
  }))
/** The SDK gives the lines new ids, and the last one the time of the fork. */
const bySdk: Copy = (parent, from, to) =>
  branched(parent, from, to).map((line, index) => ({
    ...{ ...line, uuid: `${to}-${index}` },
    ...(index === parent.length - 1 ? { timestamp: at(5_000) } : {}),
  }))
const both =
  (copy: Copy): Copy =>
  (parent, from, to) =>
    copy(asked(parent, from, to), from, to)

const PARENT = [...turn('p', 2), ...turn('p', 4)]
/** It goes on after it was forked, and is larger than the fork. */
const parentFile = [queued('p', 0), ...PARENT, stated('p', 20), ...turn('p', 20), ...turn('p', 22)]
const PARENT_INPUT = 2 ** 2 + 2 ** 4 + 2 ** 20 + 2 ** 22

const own = turn('f', 8)
/** The file of the fork, and whether its totals go on from its parent's. */
const FORMS: Record<string, object[]> = {
  '--fork-session before 2.1.328': [
    queued('f', 6),
    ...copied(PARENT, 'p', 'f'),
    ...own,
    stated('f', 20 + 256),
  ],
  '--fork-session before 2.1.328 at a terminal': [
    { type: 'mode', sessionId: 'f' },
    ...[snapshot(7), ...copied(PARENT, 'p', 'f'), ...own, stated('f', 20 + 256)],
  ],
  '--fork-session': [queued('f', 6), ...asked(PARENT, 'p', 'f'), ...own, stated('f', 20 + 256)],
  '/branch before 2.1.328': [...branched(PARENT, 'p', 'f'), ...own, stated('f', 256)],
  '/branch': [...both(branched)(PARENT, 'p', 'f'), ...own, stated('f', 256)],
  'forkSession before 2.1.328': [...bySdk(PARENT, 'p', 'f'), queued('f', 6), ...own, stated('f', 256)],
  forkSession: [...both(bySdk)(PARENT, 'p', 'f'), queued('f', 6), ...own, stated('f', 256)],
}

const seen = (records: readonly SessionRecord[]) =>
  Object.fromEntries(
    records.map(({ id, tokens, turn_records, ended_at }) => [
      id.slice(5),
      { input: tokens?.input, turns: (turn_records ?? []).map(({ role }) => role).join(' '), ended_at },
    ]),
  )

const TURN = 'user assistant'
const EXPECTED = {
  p: { input: PARENT_INPUT, turns: [TURN, TURN, TURN, TURN].join(' '), ended_at: at(22) },
  f: { input: 256, turns: TURN, ended_at: at(8) },
}

describe.each(Object.entries(FORMS))('%s', (_form, fork) => {
  const files = (first: object[], second: object[]) => ({ 'a.jsonl': lines(first), 'b.jsonl': lines(second) })
  test.each([
    ['after its parent', files(parentFile, fork)],
    ['before its parent', files(fork, parentFile)],
    ['in two copies', { ...files(fork, parentFile), 'c.jsonl': lines(fork), 'd.jsonl': lines(parentFile) }],
  ])('%s: each session has its own calls and prompts', async (_order, both) => {
    expect(seen((await read(both)).records)).toEqual(EXPECTED)
  })

  test.each([
    ['after', ['a.jsonl', 'b.jsonl']],
    ['before', ['b.jsonl', 'a.jsonl']],
  ])('in a run %s its parent’s', async (_order, names) => {
    const folder = await write(files(parentFile, fork))
    const owners = createLineOwners()
    const records: SessionRecord[] = []
    for (const name of names) records.push(...(await read(join(folder, name), { owners })).records)
    expect(seen(merged(records))).toEqual(EXPECTED)
  })

  test('another client has the fork only', async () => {
    expect(seen((await read({ 'b.jsonl': lines(fork) })).records).f).toEqual(EXPECTED.f)
  })

  test('what the agent states beyond its calls is the fork’s, where its totals begin at 0', async () => {
    const isOwn = fork.some((line) => 'forkedFrom' in line)
    const more = [...fork, stated('f', (isOwn ? 256 : 276) + 1_000)]
    const { f } = seen((await read(files(parentFile, more))).records)
    expect(f?.input).toBe(isOwn ? 1_256 : 256)
  })
})

describe('forks of forks', () => {
  const branch = [...branched(PARENT, 'p', 'f'), ...own, stated('f', 256)]
  const first = [...bySdk(PARENT, 'p', 'f'), ...own] as Line[]
  test.each<[string, object[], object[]]>([
    ['the SDK’s of the SDK’s', first, [...bySdk(first, 'f', 'g'), ...turn('g', 12), stated('g', 4_096)]],
    [
      '--fork-session before 2.1.328 of a branch',
      branch,
      [
        queued('g', 10),
        ...branch.slice(0, 6).map((line) => ({ ...line, sessionId: 'g' })),
        ...[...turn('g', 12), stated('g', 256 + 4_096)],
      ],
    ],
    [
      '/branch of --fork-session before 2.1.328',
      [queued('f', 6), ...copied(PARENT, 'p', 'f'), ...own],
      [...branched([...copied(PARENT, 'p', 'f'), ...own], 'f', 'g'), ...turn('g', 12), stated('g', 4_096)],
    ],
  ])('%s', async (_form, middle, last) => {
    for (const [a, b, c] of [
      [parentFile, middle, last],
      [last, middle, parentFile],
      [middle, last, parentFile],
    ]) {
      const files = { 'a.jsonl': lines(a ?? []), 'b.jsonl': lines(b ?? []), 'c.jsonl': lines(c ?? []) }
      expect(seen((await read(files)).records)).toEqual({
        ...EXPECTED,
        g: { input: 4_096, turns: TURN, ended_at: at(12) },
      })
    }
  })
})

test('a prompt of the parent before the fork’s first message is the parent’s', async () => {
  const interrupted = [...PARENT, prompt('p', 5)]
  const fork = [queued('f', 6), ...asked(interrupted, 'p', 'f'), ...own]
  const { p, f } = seen((await read({ 'a.jsonl': lines(fork) })).records)
  expect([p?.turns, f?.turns]).toEqual([`${TURN} ${TURN} user`, TURN])
})
