// Declares Codex' forms of files, with their places and readers: rollouts, and the output of `codex exec`.

import { join } from 'node:path'
import { timeOf, timeOfUuid7 } from '../transcript/contents.ts'
import { isObject, objectOf, textOf } from '../transcript/json.ts'
import { readCodex } from './codex.ts'
import { readCodexExec } from './codex-exec.ts'
import { starterOf } from './codex-forks.ts'
import { type Format, idIn, sessionIdIn } from './format.ts'

const TYPES = new Set(['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted'])

export const CODEX: Format = {
  name: 'codex',
  folders({ env, home }) {
    const folder = env.CODEX_HOME || join(home, '.codex')
    return [join(folder, 'sessions'), join(folder, 'archived_sessions')]
  },
  variables: ['CODEX_HOME'],
  detect: { line: ({ payload }, type) => type !== null && TYPES.has(type) && isObject(payload) },
  read: readCodex,
  withoutId: 'its beginning is missing: nothing says which session it is of',
  facts: (head) => ({
    sessionId: idIn(head, ({ type, payload }) =>
      type === 'session_meta' ? textOf(objectOf(payload).id) : null,
    ),
    startedBy: starterOf(objectOf(head.objects().find(({ type }) => type === 'session_meta')?.payload)),
  }),
}

export const CODEX_EXEC: Format = {
  name: 'codex-exec',
  agent: 'codex',
  detect: {
    line: ({ thread_id, item }, type) =>
      type === 'thread.started'
        ? textOf(thread_id) !== null
        : type === 'item.completed' && textOf(objectOf(item).id) !== null,
  },
  read: readCodexExec,
  keys: [{ start: '"thread_id"', id: /^"thread_id"\s*:\s*"([^"\\]{1,200})"/ }],
  facts: (head) => ({
    sessionId: idIn(head, (object) => textOf(object.thread_id) ?? sessionIdIn(object)),
    // the time in the first id of a thread that has one
    startedAt: idIn(head, ({ thread_id }) => timeOf(timeOfUuid7(textOf(thread_id)))) ?? '',
  }),
}
