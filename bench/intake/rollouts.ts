import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '../../src/server/seed/generate.ts'
import { corpusOf, FIRST_MS, hex, type Random, sizeOf, uuidOf } from './transcripts.ts'

// Rollouts as Codex writes them, in `sessions/<day>/rollout-<time>-<thread>.jsonl`. Shares and sizes of the lines are those
// of a real session: two of three are counts of tokens and the context of a turn, most bytes are outputs of commands and
// encrypted reasoning.

/** Calls of the model in one rollout. */
const CALLS = 150
const CONTEXT = {
  cwd: '/home/dev/code/shop',
  approval_policy: 'on-request',
  sandbox_policy: { type: 'workspace-write' },
  model: 'gpt-5.2-codex',
}

/** Writes rollouts of `megabytes` into `folder`, unless it has files. Returns its size in bytes and files. */
export async function makeRollouts(
  folder: string,
  megabytes: number,
): Promise<{ bytes: number; files: number }> {
  mkdirSync(folder, { recursive: true })
  if (readdirSync(folder).length > 0) return sizeOf(folder)
  const random = randomFrom(2)
  const corpus = corpusOf(random)
  const text = (length: number) => {
    const start = Math.floor(random() * (corpus.length - length))
    return corpus.slice(start, start + length)
  }
  let written = 0
  for (let nth = 0; written < megabytes * 1_000_000; nth += 1) {
    const startMs = FIRST_MS + nth * 600_000
    const time = new Date(startMs).toISOString()
    const head = startMs.toString(16).padStart(12, '0').replace(/^.{8}/, '$&-')
    const thread = `${head}-7${uuidOf(random).slice(15)}`
    const name = `rollout-${time.slice(0, 19).replaceAll(':', '-')}-${thread}.jsonl`
    const lines = [...linesOf(random, startMs, thread, text)].map((line) => `${JSON.stringify(line)}\n`)
    const day = join(folder, 'sessions', time.slice(0, 10).replaceAll('-', '/'))
    written += await Bun.write(join(day, name), lines.join(''))
  }
  return sizeOf(folder)
}

function* linesOf(
  random: Random,
  startMs: number,
  thread: string,
  text: (length: number) => string,
): Generator<object> {
  let ms = startMs
  const line = (type: string, payload: object) => {
    ms += 200 + Math.floor(random() * 3_000)
    return { timestamp: new Date(ms).toISOString(), type, payload }
  }
  const sum = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0 }
  yield line('session_meta', {
    id: thread,
    cwd: CONTEXT.cwd,
    originator: 'codex_cli_rs',
    cli_version: '0.98.0',
  })
  for (let call = 0; call < CALLS; call += 1) {
    if (call % 30 === 0) yield line('event_msg', { type: 'user_message', message: text(400) })
    yield line('turn_context', CONTEXT)
    const summary = [{ type: 'summary_text', text: text(120) }]
    yield line('response_item', { type: 'reasoning', summary, encrypted_content: hex(random, 1_500) })
    const call_id = `call_${hex(random, 24)}`
    const command = JSON.stringify({ cmd: `rg -n "${hex(random, 6)}" src && sed -n '1,200p' src/index.ts` })
    yield line('response_item', { type: 'function_call', name: 'exec_command', arguments: command, call_id })
    const last = {
      input_tokens: 2_000 + Math.floor(random() * 90_000),
      cached_input_tokens: Math.floor(random() * 2_000),
      output_tokens: Math.floor(random() * 900),
      reasoning_output_tokens: 0,
    }
    for (const key of ['input_tokens', 'cached_input_tokens', 'output_tokens'] as const) sum[key] += last[key]
    const count = { type: 'token_count', info: { total_token_usage: { ...sum }, last_token_usage: last } }
    yield line('event_msg', count)
    const output = `Process exited with code 0\nOutput:\n${text(200 + Math.floor(random() ** 4 * 40_000))}`
    yield line('response_item', { type: 'function_call_output', call_id, output })
    yield line('event_msg', count)
  }
}
