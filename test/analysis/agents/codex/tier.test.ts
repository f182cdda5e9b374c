import { expect, test } from 'bun:test'
import { agentFiles, lines } from '../reading.ts'

const { readOne } = agentFiles()

const at = (second: number) => `2026-11-01T08:00:${String(second).padStart(2, '0')}.000Z`
const line = (second: number, type: string, payload: object) => ({ timestamp: at(second), type, payload })
const settings = (second: number, service_tier: string) =>
  line(second, 'event_msg', { type: 'thread_settings_applied', thread_settings: { service_tier } })
const usage = (calls: number) => ({
  input_tokens: 100_000 * calls,
  ...{ cached_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0, total_tokens: 100_000 * calls },
})
const call = (second: number, calls: number) =>
  line(second, 'event_msg', {
    type: 'token_count',
    info: { total_token_usage: usage(calls), last_token_usage: usage(1) },
  })

test('a call has the price of the tier that its thread was in', async () => {
  const record = await readOne({
    'rollout-a.jsonl': lines([
      line(0, 'session_meta', { id: 'thread-1', timestamp: at(0), cwd: '/home/dev/shop' }),
      line(1, 'turn_context', { cwd: '/home/dev/shop', model: 'gpt-5.4' }),
      ...[
        settings(1, 'default'),
        call(2, 1),
        settings(3, 'priority'),
        call(4, 2),
        settings(5, 'flex'),
        call(6, 3),
      ],
    ]),
  })
  const calls = (record.turn_records ?? []).map(({ tier, cost }) => [tier, cost])
  expect(calls).toEqual([
    [undefined, 0.25],
    ['priority', 0.5],
    ['flex', 0.125],
  ])
  expect(record.estimated_cost).toBe(0.875)
})
