// Finds dangerous commands, statements, modes and sensitive files, and makes findings of them with their titles.

import type { FindingRecord, Severity } from '../records/finding.ts'
import type { DangerousAction } from '../records/fragments.ts'
import { matchCommandRules, severityOfSql } from './command-rules.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { Invocation } from './invocations.ts'
import { sensitivityOf } from './sensitive-files.ts'

const TEXTS: Readonly<Record<string, readonly [title: string, description: string]>> = {
  'recursive-delete': [
    'Recursive delete with rm',
    'rm deleted a root, home or system folder, or all that was in a folder.',
  ],
  'git-force-push': ['Forced git push', 'git push was told to overwrite what others may have pushed.'],
  'git-no-verify': ['Hooks skipped with git', 'git was told to skip the hooks that check a commit or push.'],
  'git-discard': [
    'Work discarded with git',
    'git reset --hard or git clean discarded changes that no commit holds.',
  ],
  'download-to-shell': [
    'Download run as a script',
    'What a download gave was run at once, by a shell or an interpreter.',
  ],
  sudo: ['Command run as another user', 'A command ran through sudo or doas.'],
  'world-writable': ['File made writable for everyone', 'chmod let every user of the machine write.'],
  'sql-drop': [
    'Tables or databases dropped',
    'SQL was run that drops or empties a table, a schema or a database.',
  ],
  'disk-overwrite': ['Disk overwritten', 'dd or mkfs wrote over a disk.'],
  'resource-destroy': [
    'Infrastructure destroyed',
    'A command deleted infrastructure, a bucket, a namespace or a repository.',
  ],
  'privileged-container': ['Privileged container', 'A container was run with all rights over its host.'],
  'unguarded-agent': ['Agent started without approvals', 'Another agent was started that asks for nothing.'],
  'claude-bypass-permissions': [
    'Permissions bypassed',
    'Claude Code ran with permissionMode bypassPermissions: no tool call was asked for.',
  ],
  'codex-danger-full-access': ['No sandbox', 'Codex ran with the sandbox danger-full-access.'],
}

const MODES = new Set(['unguarded-agent', 'claude-bypass-permissions', 'codex-danger-full-access'])

/** The dangerous action of a rule. Throws RangeError for an unknown rule. */
export function dangerousAction(
  ruleId: string,
  severity: Severity,
  file: string | null = null,
): DangerousAction {
  const texts = TEXTS[ruleId]
  if (texts === undefined) throw new RangeError(`no rule ${ruleId}`)
  const [title, description] = texts
  return { ruleId, severity, file, category: MODES.has(ruleId) ? 'mode' : 'command', title, description }
}

/** Programs that print or copy the files of their operands. */
const READERS = new Set(
  'cat less more head tail bat nl tac base64 xxd hexdump strings cp mv scp rsync'.split(' '),
)
/** The same for those whose first operand is no file. */
const SEARCHERS = new Set('grep egrep rg sed awk jq yq'.split(' '))
const WRITERS = new Set(['tee', 'vim', 'vi', 'nano'])
/** Matches paths only: an operand with `:`, `=` or a space may contain other text of the command. */
const PLAIN_PATH = /^(?:[A-Za-z]:)?[\w.~@+/\\$-]{1,300}$/

/** The rules that a command line matches, and the sensitive files that it reads, writes or commits. */
export function dangerousActionsIn(invocations: readonly Invocation[]): DangerousAction[] {
  const actions = matchCommandRules(invocations).map(({ ruleId, severity, file }) =>
    dangerousAction(ruleId, severity, file !== null && PLAIN_PATH.test(file) ? file : null),
  )
  for (const invocation of invocations) actions.push(...sensitiveFileAccesses(invocation))
  return actions
}

function sensitiveFileAccesses({ program, args, writes }: Invocation): DangerousAction[] {
  const operands = args.flatMap(({ text }) => (text.startsWith('-') ? [] : [text]))
  const read = READERS.has(program) ? operands : SEARCHERS.has(program) ? operands.slice(1) : []
  const written = [...writes, ...(WRITERS.has(program) ? operands : [])]
  const isAdded = program === 'git' && operands[0] === 'add'
  return [
    ...read.flatMap((path) => sensitiveFileAccess('read', path)),
    ...written.flatMap((path) => sensitiveFileAccess('written', path)),
    ...(isAdded ? operands.slice(1).flatMap((path) => sensitiveFileAccess('committed', path)) : []),
  ]
}

/** The access to a sensitive file; [] for any other file. `committed`: added to the index of git. */
export function sensitiveFileAccess(how: 'read' | 'written' | 'committed', path: string): DangerousAction[] {
  const sensitivity = PLAIN_PATH.test(path) ? sensitivityOf(path) : null
  if (sensitivity === null) return []
  const kind = sensitivity.kind.charAt(0).toUpperCase() + sensitivity.kind.slice(1)
  const severities = {
    read: sensitivity.severity,
    written: 'low',
    committed: sensitivity.severity === 'low' ? 'low' : 'high',
  } as const
  const consequences = {
    read: 'What it holds was given to the model.',
    written: 'What the agent wrote there is known to the model.',
    committed: 'Whoever can read the repository can read it.',
  }
  return [
    {
      ruleId: `sensitive-file-${how}`,
      category: 'file',
      severity: severities[how],
      title: `${kind} ${how}`,
      description: `The agent's tools had to do with a file of this name: ${kind.toLowerCase()}, ${how}. ${consequences[how]}`,
      file: path,
    },
  ]
}

export function dangerousSql(sql: string): DangerousAction[] {
  const severity = severityOfSql(sql)
  return severity === false ? [] : [dangerousAction('sql-drop', severity)]
}

/** The finding of a dangerous action; `file`: its path in the project. Rule and file decide the fingerprint. */
export const dangerousActionFinding = (
  { ruleId: rule_id, category, severity, title, description, file }: DangerousAction,
  turn_number: number | null,
): FindingRecord => ({
  ...{ rule_id, category, severity, title, description, file, line: null, turn_number },
  fingerprint: fingerprintOf(rule_id, file ?? ''),
})
