// The rules by which a command or a statement of SQL is dangerous.

import type { Severity } from '../records/finding.ts'
import { type Invocation, isShell, readsProgramFromInput } from './invocations.ts'
import type { Word } from './shell.ts'

/** A rule that an invocation matches; `file`: the path that it concerns, if any. */
interface RuleMatch {
  ruleId: string
  severity: Severity
  file: string | null
}

/** Gives the severity of an invocation; false where the rule is not of it. */
type Rule = (invocation: Invocation) => Severity | false

const DOWNLOADERS = new Set(['curl', 'wget', 'fetch', 'aria2c'])
const SQL_CLIENTS = new Set([
  'psql',
  'mysql',
  'mariadb',
  'sqlite3',
  'duckdb',
  'sqlcmd',
  'clickhouse-client',
  'cockroach',
  'pgcli',
  'usql',
])
const MAIN_BRANCHES = /^(?:[^:]*:)?(?:refs\/heads\/)?(?:main|master|trunk|develop|production|release\S*)$/
const ROOTS =
  /^(?:\/|~|\$HOME|\$\{HOME\}|\/home|\/Users|\/root|\/(?:home|Users)\/[^/]+|\/(?:etc|usr|var|bin|sbin|lib|lib64|opt|boot|dev|sys|System|Library|Applications)|[A-Za-z]:\\?)(?:\/?\*?|\/\.\*)$/
const EVERYTHING_HERE = /^(?:\.\/)?(?:\*|\.\*|\.|\.\.|\.\.\/\*|\.git)\/?$/

const textsOf = (args: readonly Word[]): string[] => args.map(({ text }) => text)
const operandsOf = (args: readonly Word[]): string[] => textsOf(args).filter((text) => !text.startsWith('-'))
/** Finds an option by letter and long name: for `f` and `--force` true for `-f`, `-rf` and `--force`. */
const hasFlag = (args: readonly Word[], letter: string, long: string): boolean =>
  textsOf(args).some((text) => text === long || (/^-[A-Za-z]+$/.test(text) && text.includes(letter)))

const recursiveDelete = ({ program, args }: Invocation, inTemporaryFolder: boolean): Severity | false => {
  if (program !== 'rm' || !(hasFlag(args, 'r', '--recursive') || hasFlag(args, 'R', '--recursive')))
    return false
  const targets = args.filter(({ text }) => !text.startsWith('-'))
  const is = (pattern: RegExp) =>
    targets.some(({ text, quoted }) => pattern.test(text) && !(quoted && /[*~]/.test(text)))
  if (is(ROOTS)) return 'critical'
  return is(EVERYTHING_HERE) && !inTemporaryFolder && 'high'
}

/** The subcommand of git and its arguments, without git's own options such as `-C folder` and `-c name=value`. */
function gitCall({ program, args }: Invocation): { command: string; args: Word[] } | null {
  if (program !== 'git') return null
  let at = 0
  while (args[at]?.text.startsWith('-') === true) at += /^-[Cc]$/.test(args[at]?.text ?? '') ? 2 : 1
  const command = args[at]?.text
  return command === undefined ? null : { command, args: args.slice(at + 1) }
}

const forcePush: Rule = (invocation) => {
  const git = gitCall(invocation)
  if (git?.command !== 'push') return false
  const refs = operandsOf(git.args).slice(1)
  const isForced = hasFlag(git.args, 'f', '--force') || refs.some((ref) => ref.startsWith('+'))
  if (!isForced) return textsOf(git.args).some((text) => text.startsWith('--force-with-lease')) && 'low'
  const isOtherBranch = refs.length > 0 && !refs.some((ref) => MAIN_BRANCHES.test(ref.replace(/^\+/, '')))
  return isOtherBranch ? 'medium' : 'high'
}

const skippedHooks: Rule = (invocation) => {
  const git = gitCall(invocation)
  if (git === null || !['commit', 'push', 'merge', 'rebase', 'am', 'cherry-pick'].includes(git.command))
    return false
  // `-n` means `--no-verify` only for commit
  const short =
    git.command === 'commit' &&
    textsOf(git.args).some((text) => /^-[a-z]+$/.test(text) && text.includes('n') && !text.includes('m'))
  return (short || textsOf(git.args).includes('--no-verify')) && 'medium'
}

const discardedWork: Rule = (invocation) => {
  const git = gitCall(invocation)
  const isReset = git?.command === 'reset' && textsOf(git.args).includes('--hard')
  const isClean =
    git?.command === 'clean' && hasFlag(git.args, 'f', '--force') && !hasFlag(git.args, 'n', '--dry-run')
  return (isReset || isClean) && 'low'
}

const downloadedScript: Rule = (invocation) => {
  const { program, args, pipedFrom } = invocation
  if (pipedFrom.some((from) => DOWNLOADERS.has(from.program)) && readsProgramFromInput(invocation))
    return 'high'
  if (!isShell(program) && !['eval', 'source', '.'].includes(program)) return false
  const substitutions = args.flatMap((word) => word.substitutions).map(({ words }) => words[0]?.text ?? '')
  return substitutions.some((name) => DOWNLOADERS.has(name)) && 'high'
}

const worldWritable: Rule = ({ program, args }) => {
  if (program !== 'chmod') return false
  const [mode = ''] = operandsOf(args)
  const isOpen = /^[0-7]?777$/.test(mode) || /(?:^|,)(?:(?=[ug]*[oa])[ugoa]*)?[+=][rxX]*w/.test(mode)
  // `+w` without a class is limited by the umask
  return isOpen && !/^[+=]/.test(mode) && 'medium'
}

/** The severity of DROP or TRUNCATE in SQL, outside of comments and string literals; false for other SQL. */
export function severityOfSql(sql: string): Severity | false {
  // a comment without an end is one to the end of the text: looked for from each `/*`, it would take quadratic time
  const code = sql.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*'/g, ' ')
  if (/\bdrop\s+(?:database|schema)\b/i.test(code)) return 'high'
  return /\bdrop\s+table\b|\btruncate\s+(?:table\s+)?[\w"`.]+/i.test(code) && 'medium'
}

const droppedTables: Rule = ({ program, args, stdin }) => {
  if (program === 'dropdb') return 'high'
  if (!SQL_CLIENTS.has(program) || textsOf(args).includes(':memory:')) return false
  return severityOfSql([...textsOf(args), stdin ?? ''].join('\n;\n'))
}

const overwrittenDisk: Rule = ({ program, args }) => {
  const isDisk = (text: string) => /^of=\/dev\/(?:sd|hd|vd|xvd|nvme|r?disk|mmcblk)/.test(text)
  return (program.startsWith('mkfs') || (program === 'dd' && textsOf(args).some(isDisk))) && 'critical'
}

const destroyedResources: Rule = ({ program, args }) => {
  const [first = '', second = ''] = operandsOf(args)
  const texts = textsOf(args)
  const isDestroyed =
    ((program === 'terraform' || program === 'tofu' || program === 'pulumi') && first === 'destroy') ||
    (program === 'kubectl' &&
      first === 'delete' &&
      (/^(?:ns|namespaces?)$/.test(second) || texts.includes('--all'))) ||
    (program === 'aws' &&
      first === 's3' &&
      ((second === 'rb' && texts.includes('--force')) ||
        (second === 'rm' && texts.includes('--recursive')))) ||
    (program === 'gh' && first === 'repo' && second === 'delete')
  return isDestroyed && 'high'
}

const privilegedContainer: Rule = ({ program, args }) =>
  ['docker', 'podman', 'nerdctl'].includes(program) &&
  ['run', 'exec', 'create'].includes(operandsOf(args)[0] ?? '') &&
  textsOf(args).includes('--privileged') &&
  'medium'

/** Options with which agents ask for nothing. */
const UNGUARDED: Readonly<Record<string, RegExp>> = {
  claude: /^(?:--dangerously-skip-permissions|bypassPermissions)$/,
  codex: /^(?:--dangerously-bypass-approvals-and-sandbox|--yolo|(?:--sandbox=|-s=?)?danger-full-access)$/,
  gemini: /^(?:--yolo|-y)$/,
}

const unguardedAgent: Rule = ({ program, args }) =>
  Object.hasOwn(UNGUARDED, program) &&
  textsOf(args).some((text) => UNGUARDED[program]?.test(text)) &&
  'medium'

const TEMPORARY = /^(?:\/private)?\/(?:var\/)?(?:tmp|folders)(?:\/|$)|\$\{?TE?MP|\$\(mktemp|^\$\{?tmp/i

export function matchCommandRules(invocations: readonly Invocation[]): RuleMatch[] {
  // a command line that changes into a temporary folder deletes only temporary files
  const inTemporaryFolder = invocations.some(
    ({ program, args }) =>
      (program === 'cd' || program === 'pushd') &&
      args.some(
        ({ text, substitutions }) =>
          TEMPORARY.test(text) || substitutions.some(({ words }) => words[0]?.text === 'mktemp'),
      ),
  )
  const rules = Object.entries<Rule>({
    'recursive-delete': (invocation) => recursiveDelete(invocation, inTemporaryFolder),
    'git-force-push': forcePush,
    'git-no-verify': skippedHooks,
    'git-discard': discardedWork,
    'download-to-shell': downloadedScript,
    sudo: ({ elevated }) => elevated && 'low',
    'world-writable': worldWritable,
    'sql-drop': droppedTables,
    'disk-overwrite': overwrittenDisk,
    'resource-destroy': destroyedResources,
    'privileged-container': privilegedContainer,
    'unguarded-agent': unguardedAgent,
  })
  return invocations.flatMap((invocation) =>
    rules.flatMap(([ruleId, rule]) => {
      const severity = rule(invocation)
      const file = ruleId === 'world-writable' ? (operandsOf(invocation.args)[1] ?? null) : null
      return severity === false ? [] : { ruleId, severity, file }
    }),
  )
}
