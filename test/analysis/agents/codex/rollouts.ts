import { lines } from '../reading.ts'

// Rollouts as several versions of Codex write them, line by line.

const START = Date.parse('2026-09-01T10:00:00.000Z')

export interface Usage {
  input: number
  output: number
}

export const usageOf = ({ input, output }: Usage) => ({
  input_tokens: input,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
})

/** `number` calls of 1,000 tokens of input and 100 of output. */
export const calls = (number: number): Usage => ({ input: 1_000 * number, output: 100 * number })

export const threadId = (number: number) => `01990000-0000-7000-8000-00000000000${number}`

/** A rollout that grows by a line, a second later, with each call. `hour`: when it begins. */
export function newRollout(thread: string, head: object = {}, hour = 0) {
  const written: object[] = []
  let clock = START + hour * 3_600_000
  const add = (type: string, payload: object) => {
    clock += 1_000
    written.push({ timestamp: new Date(clock).toISOString(), type, payload })
  }
  const event = (type: string, more: object = {}) => add('event_msg', { type, ...more })
  add('session_meta', { id: thread, session_id: thread, cwd: '/w/shop', ...head })
  return {
    add,
    event,
    turn(id: string, prompt: string) {
      event('task_started', { turn_id: id })
      add('turn_context', { turn_id: id, cwd: '/w/shop', model: 'gpt-5.2' })
      add('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] })
      event('user_message', { message: prompt })
    },
    answer(text: string) {
      add('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
    },
    command(id: string, cmd: string, exit = 0) {
      const call = { type: 'function_call', name: 'exec_command', arguments: JSON.stringify({ cmd }) }
      add('response_item', { ...call, call_id: id })
      add('response_item', {
        type: 'function_call_output',
        call_id: id,
        output: `Chunk ID: 1\nProcess exited with code ${exit}\nOutput:\n${cmd}`,
      })
    },
    script(id: string, source: string) {
      add('response_item', { type: 'custom_tool_call', name: 'exec', call_id: id, input: source })
    },
    item(id: string, command: string, exit: number) {
      const item = { type: 'CommandExecution', id, command: ['bash', '-c', command], exit_code: exit }
      event('item_completed', { item: { ...item, aggregated_output: 'done' } })
    },
    ended(id: string, text = 'Script completed') {
      add('response_item', { type: 'custom_tool_call_output', call_id: id, output: text })
    },
    record(response: string, usage: Usage, thread_total: Usage) {
      add('token_usage_record', {
        thread_id: thread,
        response_id: response,
        usage: usageOf(usage),
        thread_token_usage: usageOf(thread_total),
      })
    },
    count(total: Usage, last: Usage = calls(1)) {
      const info = { total_token_usage: usageOf(total), last_token_usage: usageOf(last) }
      event('token_count', { info })
    },
    lines: () => written.map((line) => JSON.stringify(line)),
    text: () => lines(written),
  }
}
