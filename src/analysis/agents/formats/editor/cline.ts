// Declares the formats of Cline, Roo Code and Kilo Code. The latter two were made from Cline and write the same files: the
// folder of the extension distinguishes them. Kilo's program was made from OpenCode.

import { basename, dirname, join } from 'node:path'
import { textOf, valueAt } from '../../transcript/json.ts'
import { jsonAt } from '../../transcript/json-lines.ts'
import { type Format, type Head, type Places, textIn } from '../format.ts'
import { isOfKilo, OPENCODE_DATABASE, OPENCODE_FOLDER, opencodePaths } from '../opencode-storage.ts'
import { readClineSession } from './cline-session.ts'
import { readClineTask } from './cline-task.ts'

/** Editors that run the extensions of Visual Studio Code. */
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf']

const taskFolders = ({ programs }: Places, extension: string): string[] =>
  EDITORS.map((editor) => join(programs, editor, 'User', 'globalStorage', extension, 'tasks'))

const taskOf = ({ path, text }: Head) =>
  /^\s*\[\s*\{[^{}]*"type"\s*:\s*"(?:say|ask)"/.test(text) && /"ts"\s*:\s*\d{12}/.test(text)
    ? ({ layout: 'tasks', sessionId: basename(dirname(path)) } as const)
    : null

/** The task that started this one is named beside it in a task's folder, or in the head of a session. */
function facts({ path, text }: Head) {
  const parent = textIn(text, /"parentThreadId"\s*:\s*"([^"\\]{1,200})"/)
  if (parent !== null) return { startedBy: parent }
  return { startedBy: textOf(valueAt(jsonAt(join(dirname(path), 'history_item.json')), 'parentTaskId')) }
}

export const ROO_CODE: Format = {
  name: 'roo-code',
  folders: (places) => taskFolders(places, 'rooveterinaryinc.roo-cline'),
  detect: {
    document: (head) => (/[/\\]rooveterinaryinc\.roo-/i.test(head.path) ? taskOf(head) : null),
  },
  read: readClineTask,
  facts,
}

export const KILO_CODE: Format = {
  name: 'kilo-code',
  folders: (places) => [
    ...opencodePaths(places, 'kilo', undefined),
    ...taskFolders(places, 'kilocode.kilo-code'),
  ],
  detect: {
    document: (head) => (/[/\\]kilocode\.kilo-code[/\\]/i.test(head.path) ? taskOf(head) : null),
  },
  read: readClineTask,
  facts,
  database: { ...OPENCODE_DATABASE, isAt: isOfKilo },
  folder: {
    ...OPENCODE_FOLDER,
    isOf: (path, has) => isOfKilo(join(path, 'storage')) && OPENCODE_FOLDER.isOf(path, has),
  },
}

export const CLINE: Format = {
  name: 'cline',
  folders(places) {
    const { env, home } = places
    const data = env.CLINE_DATA_DIR || join(env.CLINE_DIR || join(home, '.cline'), 'data')
    const folders = [env.CLINE_SESSION_DATA_DIR || join(data, 'sessions'), join(data, 'tasks')]
    return [...folders, ...taskFolders(places, 'saoudrizwan.claude-dev')]
  },
  variables: ['CLINE_DIR', 'CLINE_DATA_DIR', 'CLINE_SESSION_DATA_DIR'],
  detect: {
    document(head) {
      const isSession = /^\s*\{[^{}]*"agent"\s*:\s*"(?:lead|subagent|teammate)"/.test(head.text)
      const id = isSession ? textIn(head.text, /^\s*\{[^{}]*"sessionId"\s*:\s*"([^"\\]{1,200})"/) : null
      return id === null ? taskOf(head) : { layout: 'document', sessionId: id }
    },
  },
  read: (file, sessionId, { layout }) =>
    layout === 'tasks' ? readClineTask(file, sessionId) : readClineSession(file, sessionId),
  facts,
  isCompanion: (name, head) =>
    /^(?:api_conversation_history|context_history|history_item|task_metadata|tracking)\.json$/.test(name) ||
    // a session's messages are beside what it says of the session
    /"messages_path"\s*:/.test(head),
}
