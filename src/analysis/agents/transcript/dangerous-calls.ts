// Finds dangerous actions in the calls of an agent's tools.

import {
  dangerousAction,
  dangerousActionsIn,
  dangerousSql,
  sensitiveFileAccess,
} from '../../detection/dangerous-actions.ts'
import { type Invocation, invocationsOf, invocationsOfList } from '../../detection/invocations.ts'
import type { DangerousAction } from '../../records/fragments.ts'
import { isTool } from '../../scoring/tool-names.ts'
import { copyText, type Json, objectOf, textOf } from './json.ts'
import { type CallEffects, commandOf } from './tool-effects.ts'

const SQL_TOOL = /sql|database|query/i
const MAX_ACTIONS_PER_CALL = 50

/** The dangerous actions of a tool call, at most 50, from its tool's name and input. */
export function dangerousActionsOf(
  name: string,
  input: Json,
  effects: CallEffects,
): readonly DangerousAction[] {
  const actions = isTool('shell', name)
    ? dangerousActionsIn(commandsOf(input))
    : [
        ...sensitiveEdits(effects.edits),
        ...(isTool('read', name) && effects.file !== null ? sensitiveFileAccess('read', effects.file) : []),
        ...(SQL_TOOL.test(name) ? dangerousSql(textOf(input.query) ?? textOf(input.sql) ?? '') : []),
      ]
  return actions
    .slice(0, MAX_ACTIONS_PER_CALL)
    .map((action) => ({ ...action, file: action.file === null ? null : copyText(action.file) }))
}

/** The sensitive files among those that a call changed. */
export function sensitiveEdits(paths: readonly string[]): DangerousAction[] {
  return paths.flatMap((path) => sensitiveFileAccess('written', path))
}

function commandsOf(input: Json): Invocation[] {
  const command = commandOf(input)
  return Array.isArray(command) ? invocationsOfList(command) : invocationsOf(command)
}

/** The mode of a Codex turn that ran without a sandbox, else null. Low where a person approves each command. */
export function unsandboxedMode(context: Json): DangerousAction | null {
  const policy = objectOf(context.sandbox_policy)
  const sandbox = textOf(policy.type) ?? textOf(policy.mode) ?? textOf(context.sandbox_policy)
  if (sandbox !== 'danger-full-access') return null
  return dangerousAction('codex-danger-full-access', context.approval_policy === 'never' ? 'medium' : 'low')
}
