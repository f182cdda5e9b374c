import type { Severity } from '../records/finding.ts'
import { type Invocation, isShell, readsProgramFromInput } from './invocations.ts'
import type { Word } from './shell.ts'

/** A rule that an invocation matches; `file`: the path that it concerns, if any. */
interface RuleMatch {
  ruleId: string
  severity: Severity
  file?: string | null
}

interface Context {
  /** The command line changes into a temporary folder, so that it deletes only temporary files. */
  inTemporaryFolder: boolean
}

type Rule = (invocation: Invocation, context: Context) => RuleMatch | null

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

const recursiveDelete: Rule = ({ program, args }, { inTemporaryFolder }) => {
  if (program !== 'rm' || !(hasFlag(args, 'r', '--recursive') || hasFlag(args, 'R', '--recursive')))
    return null
  const targets = args.filter(({ text }) => !text.startsWith('-'))
  const is = (pattern: RegExp) =>
    targets.some(({ text, quoted }) => pattern.test(text) && !(quoted && /[*~]/.test(text)))
  if (is(ROOTS)) return { ruleId: 'recursive-delete', severity: 'critical' }
  return is(EVERYTHING_HERE) && !inTemporaryFolder ? { ruleId: 'recursive-delete', severity: 'high' } : null
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
  if (git?.command !== 'push') return null
  const refs = operandsOf(git.args).slice(1)
  const isForced = hasFlag(git.args, 'f', '--force') || refs.some((ref) => ref.startsWith('+'))
  if (!isForced) {
    const leased = textsOf(git.args).some((text) => text.startsWith('--force-with-lease'))
    return leased ? { ruleId: 'git-force-push', severity: 'low' } : null
  }
  const isOtherBranch = refs.length > 0 && !refs.some((ref) => MAIN_BRANCHES.test(ref.replace(/^\+/, '')))
  return { ruleId: 'git-force-push', severity: isOtherBranch ? 'medium' : 'high' }
}

const skippedHooks: Rule = (invocation) => {
  const git = gitCall(invocation)
  if (git === null || !['commit', 'push', 'merge', 'rebase', 'am', 'cherry-pick'].includes(git.command))
    return null
  // `-n` means `--no-verify` only for commit
  const short =
    git.command === 'commit' &&
    textsOf(git.args).some((text) => /^-[a-z]+$/.test(text) && text.includes('n') && !text.includes('m'))
  const isSkipped = short || textsOf(git.args).includes('--no-verify')
  return isSkipped ? { ruleId: 'git-no-verify', severity: 'medium' } : null
}

const discardedWork: Rule = (invocation) => {
  const git = gitCall(invocation)
  const isReset = git?.command === 'reset' && textsOf(git.args).includes('--hard')
  const isClean =
    git?.command === 'clean' && hasFlag(git.args, 'f', '--force') && !hasFlag(git.args, 'n', '--dry-run')
  return isReset || isClean ? { ruleId: 'git-discard', severity: 'low' } : null
}

const downloadedScript: Rule = (invocation) => {
  const { program, args, pipedFrom } = invocation
  const match: RuleMatch = { ruleId: 'download-to-shell', severity: 'high' }
  if (pipedFrom.some((from) => DOWNLOADERS.has(from.program)) && readsProgramFromInput(invocation))
    return match
  if (!isShell(program) && !['eval', 'source', '.'].includes(program)) return null
  const substitutions = args.flatMap((word) => word.substitutions).map(({ words }) => words[0]?.text ?? '')
  return substitutions.some((name) => DOWNLOADERS.has(name)) ? match : null
}

const elevated: Rule = (invocation) => (invocation.elevated ? { ruleId: 'sudo', severity: 'low' } : null)

const worldWritable: Rule = ({ program, args }) => {
  if (program !== 'chmod') return null
  const [mode = '', target = null] = operandsOf(args)
  const isOpen = /^[0-7]?777$/.test(mode) || /(?:^|,)(?:(?=[ug]*[oa])[ugoa]*)?[+=][rxX]*w/.test(mode)
  // `+w` without a class is limited by the umask
  return isOpen && !/^[+=]/.test(mode) ? { ruleId: 'world-writable', severity: 'medium', file: target } : null
}

/** DROP or TRUNCATE in SQL outside of comments and string literals; null for other SQL. */
export function matchSqlRules(sql: string): RuleMatch | null {
  // a comment without an end is one to the end of the text: looked for from each `/*`, it would take quadratic time
  const code = sql.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*'/g, ' ')
  if (/\bdrop\s+(?:database|schema)\b/i.test(code)) return { ruleId: 'sql-drop', severity: 'high' }
  return /\bdrop\s+table\b|\btruncate\s+(?:table\s+)?[\w"`.]+/i.test(code)
    ? { ruleId: 'sql-drop', severity: 'medium' }
    : null
}

const droppedTables: Rule = ({ program, args, stdin }) => {
  if (program === 'dropdb') return { ruleId: 'sql-drop', severity: 'high' }
  if (!SQL_CLIENTS.has(program) || textsOf(args).includes(':memory:')) return null
  return matchSqlRules([...textsOf(args), stdin ?? ''].join('\n;\n'))
}

const overwrittenDisk: Rule = ({ program, args }) => {
  const isOverwritten =
    program.startsWith('mkfs') ||
    (program === 'dd' &&
      textsOf(args).some((text) => /^of=\/dev\/(?:sd|hd|vd|xvd|nvme|r?disk|mmcblk)/.test(text)))
  return isOverwritten ? { ruleId: 'disk-overwrite', severity: 'critical' } : null
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
  return isDestroyed ? { ruleId: 'resource-destroy', severity: 'high' } : null
}

const privilegedContainer: Rule = ({ program, args }) =>
  ['docker', 'podman', 'nerdctl'].includes(program) &&
  ['run', 'exec', 'create'].includes(operandsOf(args)[0] ?? '') &&
  textsOf(args).includes('--privileged')
    ? { ruleId: 'privileged-container', severity: 'medium' }
    : null

const unguardedAgent: Rule = ({ program, args }) => {
  const texts = textsOf(args)
  const isUnguarded =
    (program === 'claude' &&
      (texts.includes('--dangerously-skip-permissions') || texts.includes('bypassPermissions'))) ||
    (program === 'codex' &&
      texts.some((text) =>
        /^(?:--dangerously-bypass-approvals-and-sandbox|--yolo|(?:--sandbox=|-s=?)?danger-full-access)$/.test(
          text,
        ),
      )) ||
    (program === 'gemini' && (texts.includes('--yolo') || texts.includes('-y')))
  return isUnguarded ? { ruleId: 'unguarded-agent', severity: 'medium' } : null
}

const RULES: readonly Rule[] = [
  recursiveDelete,
  forcePush,
  skippedHooks,
  discardedWork,
  downloadedScript,
  elevated,
  worldWritable,
  droppedTables,
  overwrittenDisk,
  destroyedResources,
  privilegedContainer,
  unguardedAgent,
]

const TEMPORARY = /^(?:\/private)?\/(?:var\/)?(?:tmp|folders)(?:\/|$)|\$\{?TE?MP|\$\(mktemp|^\$\{?tmp/i

/** The rules that the invocations of one command line match. */
export function matchCommandRules(invocations: readonly Invocation[]): RuleMatch[] {
  const inTemporaryFolder = invocations.some(
    ({ program, args }) =>
      (program === 'cd' || program === 'pushd') &&
      args.some(
        ({ text, substitutions }) =>
          TEMPORARY.test(text) || substitutions.some(({ words }) => words[0]?.text === 'mktemp'),
      ),
  )
  return invocations.flatMap((invocation) =>
    RULES.flatMap((rule) => rule(invocation, { inTemporaryFolder }) ?? []),
  )
}
