import { expect, test } from 'bun:test'
import { agentFiles, lines } from '../reading.ts'

const { readOne } = agentFiles()

test('commands, and what the program wrote as a user, are no prompts', async () => {
  const prompts = ['Fix /help', '/home/dev/a.ts is broken', '// what is this?']
  const others = [
    '<session_context>\nThis is the setting.',
    '<hook_context>more</hook_context>',
    '<state_snapshot>done</state_snapshot>',
    '/help',
    ' /chat save x',
    '?',
    ' ',
  ]
  const messages = [...others, ...prompts].map((text, index) => ({
    ...{ id: `m${index}`, timestamp: `2026-05-01T10:00:${10 + index}.000Z`, type: 'user' },
    content: index % 2 === 0 ? text : [{ text }],
  }))
  const chat = { sessionId: 's', projectHash: 'f', startTime: '2026-05-01T10:00:00.000Z', messages }
  const { messages: _, ...head } = chat
  const forms = [
    JSON.stringify(chat),
    lines([head, ...messages]),
    lines([head, messages[7], { $set: { messages } }]),
  ]
  for (const form of forms) {
    const record = await readOne({ 'chat.json': form }, { content: true })
    expect(record.turn_records?.map(({ content }) => content)).toEqual(prompts)
    expect(record.observations?.map(({ type }) => type)).toEqual(['compaction'])
  }
})
