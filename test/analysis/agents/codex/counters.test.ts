import { describe, expect, test } from 'bun:test'
import { unpackFragments } from '../../../../src/analysis/records/fragments.ts'
import type { SessionRecord } from '../../../../src/analysis/records/session.ts'
import { agentFiles } from '../reading.ts'
import { calls, newRollout, threadId } from './rollouts.ts'

// A running total says what a call used only within one sum of one counter.

const { read, readOne } = agentFiles()

const THREAD = threadId(1)
const usedBy = ({ tokens, turns }: SessionRecord) => ({
  input: tokens?.input,
  output: tokens?.output,
  answers: (turns ?? 0) - 1,
})
const used = (number: number) => ({ input: 1_000 * number, output: 100 * number, answers: number })

/** A rollout with a prompt and the lines that `write` adds. */
async function readCalls(write: (rollout: ReturnType<typeof newRollout>) => void) {
  const rollout = newRollout(THREAD)
  rollout.turn(threadId(2), 'do it')
  write(rollout)
  return await readOne({ 'rollout.jsonl': rollout.text() })
}

describe('records beside the running total', () => {
  test('a compaction is one call, which the running total never has', async () => {
    const record = await readCalls((rollout) => {
      for (const number of [1, 2]) {
        rollout.answer(`answer ${number}`)
        rollout.record(`resp_${number}`, calls(1), calls(number))
        rollout.count(calls(number))
      }
      rollout.record('resp_compact', calls(1), calls(3))
      rollout.add('compacted', { message: '', compaction_response_id: 'resp_compact' })
      rollout.event('context_compacted')
      rollout.count(calls(2), { input: 0, output: 0 })
      for (const number of [4, 5]) {
        rollout.answer(`answer ${number}`)
        rollout.record(`resp_${number}`, calls(1), calls(number))
        rollout.count(calls(number - 1))
        rollout.count(calls(number - 1))
      }
    })
    expect(usedBy(record)).toEqual(used(5))
    expect(unpackFragments(record.parts ?? '')?.events.map(({ type }) => type)).toEqual(['compaction'])
  })

  test('after a restart of the program the running total begins again', async () => {
    const record = await readCalls((rollout) => {
      for (const number of [1, 2, 3, 4, 5]) {
        rollout.answer(`answer ${number}`)
        rollout.record(`resp_${number}`, calls(1), calls(number))
        rollout.count(calls(number > 2 ? number - 2 : number))
      }
    })
    expect(usedBy(record)).toEqual(used(5))
  })

  test('a call counts once where a version without records went on, and where a record is damaged', async () => {
    const record = await readCalls((rollout) => {
      for (const number of [1, 2, 3, 4]) {
        rollout.answer(`answer ${number}`)
        if (number === 2 || number === 3) rollout.record(`resp_${number}`, calls(1), calls(number))
        rollout.count(calls(number))
      }
    })
    expect(usedBy(record)).toEqual(used(4))
  })

  test('a record that is repeated counts once', async () => {
    const record = await readCalls((rollout) => {
      rollout.answer('answer')
      rollout.record('resp_1', calls(1), calls(1))
      rollout.record('resp_1', calls(1), calls(1))
    })
    expect(usedBy(record)).toEqual(used(1))
  })
})

describe('the running total alone', () => {
  test.each([
    ['below what it was', [1, 2, 3, 1, 2], [1, 1, 1, 1, 1], 5],
    ['with a call that is larger than all before', [1, 2, 7, 8], [1, 1, 7, 1], 10],
    ['after a line that is lost', [1, 2, 4], [1, 1, 1], 4],
    ['after a line that is lost, above what it was', [3, 9], [3, 7], 10],
  ])('that began again, %s', async (_name, totals, lasts, sum) => {
    const record = await readCalls((rollout) => {
      for (const [index, total] of totals.entries()) {
        rollout.answer(`answer ${index}`)
        rollout.count(calls(total), calls(lasts[index] ?? 1))
      }
    })
    expect(usedBy(record)).toEqual({ ...used(sum), answers: totals.length })
  })

  test('without the last call: a smaller total is the first of a new sum', async () => {
    const record = await readCalls((rollout) => {
      for (const [index, total] of [2, 5, 1, 3].entries()) {
        rollout.answer(`answer ${index}`)
        rollout.event('token_count', {
          info: { total_token_usage: { input_tokens: 1_000 * total, output_tokens: 100 * total } },
        })
      }
    })
    expect(usedBy(record)).toEqual({ ...used(8), answers: 4 })
  })

  test('that is emptied when the context is full is no call', async () => {
    const record = await readCalls((rollout) => {
      rollout.answer('one')
      rollout.count(calls(1))
      rollout.count(calls(0), calls(0))
      rollout.answer('two')
      rollout.count(calls(1))
    })
    expect(usedBy(record)).toEqual(used(2))
  })
})

describe('a thread that goes on in a second file', () => {
  const first = newRollout(THREAD)
  first.turn(threadId(2), 'do it')
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
    first.answer(`answer ${number}`)
    first.count(calls(number))
  }
  const BASE = { history_base: { thread_id: THREAD, end_ordinal_exclusive: 30, end_byte_offset: 9_000 } }
  const second = (write: (rollout: ReturnType<typeof newRollout>) => void) => {
    const rollout = newRollout(THREAD, BASE, 1)
    rollout.turn(threadId(3), 'and more')
    write(rollout)
    return rollout.text()
  }
  const goesOn: [string, string][] = [
    [
      'with its next call',
      second((rollout) => {
        rollout.answer('answer 11')
        rollout.count(calls(11))
      }),
    ],
    [
      'with the last total again',
      second((rollout) => {
        rollout.count(calls(10))
        rollout.answer('answer 11')
        rollout.count(calls(11))
      }),
    ],
    ['with a call that has no text', second((rollout) => rollout.count(calls(11)))],
    [
      'with the last total again, and a compaction',
      second((rollout) => {
        rollout.count(calls(10))
        rollout.record('resp_11', calls(1), calls(11))
        rollout.count(calls(11))
      }),
    ],
  ]

  test.each(goesOn)('%s', async (_name, text) => {
    expect((await readOne({ 'b.jsonl': text })).tokens?.input).toBe(1_000)
    const together = await readOne({ 'a.jsonl': first.text(), 'b.jsonl': text })
    expect(together).toMatchObject({ tokens: { input: 11_000, output: 1_100 }, turns: 2 + 11 })
  })
})

describe('turns that Codex imported from another agent', () => {
  const imported = () => {
    const rollout = newRollout(THREAD)
    for (const number of [1, 2]) {
      rollout.event('task_started', { turn_id: `external-import-turn-${number}` })
      rollout.event('user_message', { message: `prompt ${number}` })
      rollout.add('response_item', {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: `prompt ${number}` }],
      })
      rollout.answer(`[external_agent_tool_call: Bash] step ${number}`)
      rollout.command(`call_${number}`, 'git push --force')
      if (number === 2) rollout.count(calls(0), calls(0))
      rollout.event('task_complete', { turn_id: `external-import-turn-${number}` })
    }
    rollout.add('response_item', {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: '<EXTERNAL SESSION IMPORTED>' }],
    })
    return rollout
  }

  test('are no session', async () => {
    const { records, skipped } = await read({ 'a.jsonl': imported().text() })
    expect(records).toEqual([])
    expect(skipped).toEqual(['a.jsonl: it has no prompts and no messages of its own'])
  })

  test('are not of the session that goes on after them', async () => {
    const rollout = imported()
    rollout.turn(threadId(4), 'now in Codex')
    rollout.answer('yes')
    rollout.count(calls(1))
    const record = await readOne({ 'a.jsonl': rollout.text() })
    expect(usedBy(record)).toEqual(used(1))
    expect(record.tools_used).toEqual([])
    expect(record.security_metadata?.findings).toEqual([])
  })
})
