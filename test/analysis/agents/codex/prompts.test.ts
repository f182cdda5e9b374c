import { describe, expect, test } from 'bun:test'
import { agentFiles } from '../reading.ts'
import { calls, newRollout, threadId } from './rollouts.ts'

const { readOne } = agentFiles()

type Rollout = ReturnType<typeof newRollout>

/** The times of the prompts of a rollout with an answer after what `write` adds. */
async function promptsOf(write: (rollout: Rollout) => void) {
  const rollout = newRollout(threadId(1))
  write(rollout)
  rollout.answer('yes')
  rollout.count(calls(1))
  const record = await readOne({ 'a.jsonl': rollout.text() }, { content: true })
  return (record.turn_records ?? []).flatMap(({ role, content }) => (role === 'user' ? [content] : []))
}

const message = (rollout: Rollout, ...texts: string[]) =>
  rollout.add('response_item', {
    ...{ type: 'message', role: 'user' },
    content: texts.map((text) => ({ type: 'input_text', text })),
  })
const item = (rollout: Rollout, text: string) =>
  rollout.event('item_completed', {
    item: { type: 'UserMessage', id: text, content: [{ type: 'text', text }] },
  })

const WRITTEN_BY_CODEX = [
  '<environment_context>\n<cwd>/w</cwd>\n</environment_context>',
  '<subagent_notification>\n{"status":{"completed":"done"}}\n</subagent_notification>',
  '<hook_prompt hook_run_id="run-1">Run the checks.</hook_prompt>',
  '<codex_internal_context source="goal">Go on.</codex_internal_context>',
  '<user_shell_command>\n<command>ls</command>\n</user_shell_command>',
  '<recommended_plugins>Use it.</recommended_plugins>',
  '<goal_context>\n<objective>End it</objective>\n</goal_context>',
  '<external_browser>A page</external_browser>',
  '# AGENTS.md instructions for /w',
  'Warning: apply_patch was requested via exec_command.',
]

describe('prompts of Codex', () => {
  test.each(WRITTEN_BY_CODEX)('%j is none, as a message or an event', async (text) => {
    expect(await promptsOf((rollout) => message(rollout, text))).toEqual([])
    expect(await promptsOf((rollout) => rollout.event('user_message', { message: text }))).toEqual([])
  })

  test('are messages that no program wrote, where nothing else tells of them', async () => {
    const write = (rollout: Rollout) => {
      message(rollout, WRITTEN_BY_CODEX[0] ?? '', 'Fix it')
      message(rollout, '<div> is not closed')
    }
    expect(await promptsOf(write)).toEqual(['Fix it', '<div> is not closed'])
  })

  test('are the events, where there are any', async () => {
    const write = (rollout: Rollout) => {
      rollout.turn(threadId(2), 'Fix it')
      message(rollout, 'Written by a program that is not known')
    }
    expect(await promptsOf(write)).toEqual(['Fix it'])
  })

  test('are the completed items, where there are any', async () => {
    const write = (rollout: Rollout) => {
      rollout.turn(threadId(2), 'Fix it')
      item(rollout, 'Fix it')
      message(rollout, 'Written by a program that is not known')
      rollout.event('user_message', { message: 'An event beside it' })
      rollout.event('task_started', { turn_id: threadId(3) })
      item(rollout, 'Fix it')
      item(rollout, '')
    }
    expect(await promptsOf(write)).toStrictEqual(['Fix it', 'Fix it'])
  })
})
