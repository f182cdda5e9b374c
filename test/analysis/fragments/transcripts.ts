import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Files of Claude Code as its version 2.1 writes them, made from a number: sessions with sub-agents, forks, results of
// `claude -p` and the totals that it states.

export interface MadeFile {
  /** The path below the folder of projects. */
  path: string
  lines: string[]
}

/** A generator of numbers from 0 to below 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const MODELS = [
  'claude-sonnet-4-5-20250929',
  'claude-opus-4-5-20251101',
  'claude-haiku-4-5-20251001',
] as const
const START = Date.parse('2026-03-02T08:00:00.000Z')

interface Totals {
  [model: string]: number[]
}

/** The files of `count` sessions, some with a sub-agent, a fork or a log of `claude -p`. */
export function makeTranscripts(count: number, seed: number): MadeFile[] {
  const random = randomFrom(seed)
  const pick = (below: number) => Math.floor(random() * below)
  const files: MadeFile[] = []
  for (let number = 0; number < count; number += 1) {
    const id = `${String(seed).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`
    const project = `-work-project${number % 7}`
    let clock = START + number * 7_200_000
    let serial = 0
    const totals: Totals = {}
    const line = (value: object) =>
      JSON.stringify({ sessionId: id, cwd: `/srv/project${number % 7}`, ...value })
    const tick = () => {
      clock += 1_000 + pick(4_000)
      return new Date(clock).toISOString()
    }
    const call = (extra: object): string[] => {
      serial += 1
      const model = MODELS[pick(MODELS.length)] ?? MODELS[0]
      const usage = [pick(2_000), 20 + pick(300), pick(9_000), pick(500)]
      totals[model] = (totals[model] ?? [0, 0, 0, 0]).map((sum, kind) => sum + (usage[kind] ?? 0))
      const at = tick()
      const lineOf = (output: number, block: object, part: number) =>
        line({
          type: 'assistant',
          uuid: `${id}-${serial}-${part}`,
          timestamp: at,
          requestId: `req_${number}_${serial}`,
          message: {
            id: `msg_${seed}_${number}_${serial}`,
            role: 'assistant',
            model,
            content: [block],
            usage: {
              input_tokens: usage[0],
              output_tokens: output,
              cache_read_input_tokens: usage[2],
              cache_creation_input_tokens: usage[3],
            },
          },
          ...extra,
        })
      const tool = {
        type: 'tool_use',
        id: `toolu_${number}_${serial}`,
        name: 'Edit',
        input: { file_path: `/srv/project${number % 7}/src/f${pick(9)}.ts` },
      }
      const result = line({
        type: 'user',
        uuid: `${id}-${serial}-r`,
        timestamp: tick(),
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: tool.id, content: 'ok', is_error: pick(5) === 0 }],
        },
        ...extra,
      })
      return [lineOf(1, { type: 'text', text: `step ${serial}` }, 1), lineOf(usage[1] ?? 0, tool, 2), result]
    }
    const prompt = (extra: object = {}) => {
      serial += 1
      return line({
        type: 'user',
        uuid: `${id}-${serial}-p`,
        timestamp: tick(),
        message: { role: 'user', content: `do ${serial}` },
        ...extra,
      })
    }
    const main = [prompt()]
    for (let calls = 2 + pick(6); calls > 0; calls -= 1) main.push(...call({}))
    if (pick(3) === 0) {
      const agent = `a${number}`
      const own = { isSidechain: true, agentId: agent }
      const lines = [prompt(own)]
      for (let calls = 1 + pick(3); calls > 0; calls -= 1) lines.push(...call(own))
      files.push({ path: join(project, id, 'subagents', `agent-${agent}.jsonl`), lines })
    }
    if (pick(3) === 0) files.push({ path: join(project, `${id}-fork.jsonl`), lines: forkOf(main, id, clock) })
    // no line has this usage: the call that made a summary
    const hidden = pick(2) === 0 ? 321 : 0
    const stated = Object.fromEntries(
      Object.entries(totals).map(([model, [input = 0, output = 0, read = 0, creation = 0]]) => [
        model,
        {
          inputTokens: input + hidden,
          outputTokens: output + hidden,
          cacheReadInputTokens: read,
          cacheCreationInputTokens: creation,
        },
      ]),
    )
    if (pick(2) === 0) main.push(line({ type: 'cost-state', modelUsage: stated }))
    files.push({ path: join(project, `${id}.jsonl`), lines: main })
    if (pick(4) === 0) {
      const result = {
        type: 'result',
        subtype: 'success',
        uuid: `${id}-result`,
        session_id: id,
        total_cost_usd: 0.5,
        usage: {
          input_tokens: 1,
          output_tokens: 1,
          cache_read_input_tokens: 0,
          cache_creation_input_tokens: 0,
        },
        modelUsage: stated,
      }
      files.push({ path: join('logs', `run-${number}.jsonl`), lines: [JSON.stringify(result)] })
    }
  }
  return files
}

/** A fork's file: what it copies of the session, under its own id, and two lines of its own. */
function forkOf(parent: readonly string[], id: string, clock: number): string[] {
  const fork = id.replace('-4000-', '-4fff-')
  const at = (seconds: number) => new Date(clock + seconds * 1_000).toISOString()
  const copies = parent.map((text) => {
    const value = JSON.parse(text) as { type: string; sessionId: string }
    const asked = value.type === 'assistant' ? { requestSessionId: id } : {}
    return JSON.stringify({ ...value, sessionId: fork, ...asked })
  })
  const usage = {
    input_tokens: 11,
    output_tokens: 22,
    cache_read_input_tokens: 33,
    cache_creation_input_tokens: 44,
  }
  return [
    JSON.stringify({ type: 'queue-operation', operation: 'enqueue', sessionId: fork, timestamp: at(600) }),
    ...copies,
    JSON.stringify({
      type: 'user',
      sessionId: fork,
      uuid: `${fork}-p`,
      timestamp: at(601),
      message: { role: 'user', content: 'more' },
    }),
    JSON.stringify({
      type: 'assistant',
      sessionId: fork,
      uuid: `${fork}-a`,
      timestamp: at(602),
      requestId: `req_${fork}`,
      message: {
        id: `msg_${fork}`,
        role: 'assistant',
        model: MODELS[0],
        content: [{ type: 'text', text: 'done' }],
        usage,
      },
    }),
    JSON.stringify({
      type: 'cost-state',
      sessionId: fork,
      modelUsage: {
        [MODELS[0]]: {
          inputTokens: 9_999_999,
          outputTokens: 9_999_999,
          cacheReadInputTokens: 0,
          cacheCreationInputTokens: 0,
        },
      },
    }),
  ]
}

/** Writes the file below `folder` and returns its path there. */
export function putFile(folder: string, { path, lines }: MadeFile): string {
  const target = join(folder, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, `${lines.join('\n')}\n`)
  return target
}
