import type { FindingRecord, Severity } from '../records/finding.ts'
import { matchCommandRules, matchSqlRules } from './command-rules.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { Invocation } from './invocations.ts'
import { sensitivityOf } from './sensitive-files.ts'

/**
 * A dangerous action of an agent: a command, a mode it ran in, or access to a sensitive file. It contains no text of a
 * command.
 */
export interface DangerousAction {
  ruleId: string
  category: 'command' | 'mode' | 'file'
  severity: Severity
  title: string
  description: string
  /** The path as the agent wrote it; null for an action that concerns no file. */
  file: string | null
}

interface Kind {
  category: DangerousAction['category']
  title: string
  description: string
}

const KINDS: Readonly<Record<string, Kind>> = {
  'recursive-delete': command(
    'Recursive delete with rm',
    'rm deleted a root, home or system folder, or all that was in a folder.',
  ),
  'git-force-push': command('Forced git push', 'git push was told to overwrite what others may have pushed.'),
  'git-no-verify': command(
    'Hooks skipped with git',
    'git was told to skip the hooks that check a commit or push.',
  ),
  'git-discard': command(
    'Work discarded with git',
    'git reset --hard or git clean discarded changes that no commit holds.',
  ),
  'download-to-shell': command(
    'Download run as a script',
    'What a download gave was run at once, by a shell or an interpreter.',
  ),
  sudo: command('Command run as another user', 'A command ran through sudo or doas.'),
  'world-writable': command('File made writable for everyone', 'chmod let every user of the machine write.'),
  'sql-drop': command(
    'Tables or databases dropped',
    'SQL was run that drops or empties a table, a schema or a database.',
  ),
  'disk-overwrite': command('Disk overwritten', 'dd or mkfs wrote over a disk.'),
  'resource-destroy': command(
    'Infrastructure destroyed',
    'A command deleted infrastructure, a bucket, a namespace or a repository.',
  ),
  'privileged-container': command(
    'Privileged container',
    'A container was run with all rights over its host.',
  ),
  'unguarded-agent': mode(
    'Agent started without approvals',
    'Another agent was started that asks for nothing.',
  ),
  'claude-bypass-permissions': mode(
    'Permissions bypassed',
    'Claude Code ran with permissionMode bypassPermissions: no tool call was asked for.',
  ),
  'codex-danger-full-access': mode('No sandbox', 'Codex ran with the sandbox danger-full-access.'),
}

function command(title: string, description: string): Kind {
  return { category: 'command', title, description }
}
function mode(title: string, description: string): Kind {
  return { category: 'mode', title, description }
}

/** The dangerous action of a rule. Throws RangeError for an unknown rule. */
export function dangerousAction(
  ruleId: string,
  severity: Severity,
  file: string | null = null,
): DangerousAction {
  const kind = KINDS[ruleId]
  if (kind === undefined) throw new RangeError(`no rule ${ruleId}`)
  return { ruleId, severity, file, ...kind }
}

/** Programs that print or copy the files of their operands; for `pattern` the first operand is not a file. */
const READERS: Readonly<Record<string, 'files' | 'pattern'>> = {
  cat: 'files',
  less: 'files',
  more: 'files',
  head: 'files',
  tail: 'files',
  bat: 'files',
  nl: 'files',
  tac: 'files',
  base64: 'files',
  xxd: 'files',
  hexdump: 'files',
  strings: 'files',
  cp: 'files',
  mv: 'files',
  scp: 'files',
  rsync: 'files',
  grep: 'pattern',
  egrep: 'pattern',
  rg: 'pattern',
  sed: 'pattern',
  awk: 'pattern',
  jq: 'pattern',
  yq: 'pattern',
}
const WRITERS = new Set(['tee', 'vim', 'vi', 'nano'])
/** Matches paths only: an operand with `:`, `=` or a space may contain other text of the command. */
const PLAIN_PATH = /^(?:[A-Za-z]:)?[\w.~@+/\\$-]{1,300}$/

/** The rules that a command line matches, and the sensitive files that it reads, writes or commits. */
export function dangerousActionsIn(invocations: readonly Invocation[]): DangerousAction[] {
  const actions = matchCommandRules(invocations).map(({ ruleId, severity, file = null }) =>
    dangerousAction(ruleId, severity, file !== null && PLAIN_PATH.test(file) ? file : null),
  )
  for (const invocation of invocations) actions.push(...sensitiveFileAccesses(invocation))
  return actions
}

function sensitiveFileAccesses({ program, args, writes }: Invocation): DangerousAction[] {
  const operands = args.flatMap(({ text }) => (text.startsWith('-') ? [] : [text]))
  const reader = READERS[program]
  const read = reader === undefined ? [] : reader === 'files' ? operands : operands.slice(1)
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
  const found = PLAIN_PATH.test(path) ? sensitivityOf(path) : null
  if (found === null) return []
  const kind = found.kind.charAt(0).toUpperCase() + found.kind.slice(1)
  const severities = {
    read: found.severity,
    written: 'low',
    committed: found.severity === 'low' ? 'low' : 'high',
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

/** The DROP or TRUNCATE in SQL that a tool runs; [] for other SQL. */
export function dangerousSql(sql: string): DangerousAction[] {
  const match = matchSqlRules(sql)
  return match === null ? [] : [dangerousAction(match.ruleId, match.severity)]
}

/** The finding of a dangerous action; `file`: its path in the project. Rule and file decide the fingerprint. */
export function dangerousActionFinding(
  action: DangerousAction,
  file: string | null,
  turnNumber: number | null,
): FindingRecord {
  return {
    rule_id: action.ruleId,
    category: action.category,
    severity: action.severity,
    title: action.title,
    description: action.description,
    file,
    line: null,
    turn_number: turnNumber,
    fingerprint: fingerprintOf(action.ruleId, file ?? ''),
  }
}
