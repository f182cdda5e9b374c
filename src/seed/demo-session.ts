import type { FindingRecord } from '../records/finding.ts'
import type { SessionRecord } from '../records/session.ts'

export type Agent = 'claude-code' | 'codex' | 'gemini'

/** The models of each agent, the usual one first. */
const MODELS: Record<Agent, readonly string[]> = {
  'claude-code': ['claude-sonnet-4-5', 'claude-sonnet-4-5', 'claude-opus-4-5', 'claude-haiku-4-5'],
  codex: ['gpt-5.2-codex', 'gpt-5.2-codex', 'gpt-5.1-codex-mini'],
  gemini: ['gemini-3-pro-preview', 'gemini-2.5-flash'],
}
const TOOLS: Record<Agent, readonly string[]> = {
  'claude-code': ['Read', 'Edit', 'Bash', 'Grep', 'Write', 'Task'],
  codex: ['shell', 'apply_patch', 'update_plan'],
  gemini: ['read_file', 'replace', 'run_shell_command'],
}
const MAX_TURNS = 60
/** Part of the sessions with findings. */
const WITH_FINDINGS = 0.045

const FINDINGS = [
  { rule_id: 'sudo', category: 'command', severity: 'low', title: 'Command run as another user' },
  { rule_id: 'git-no-verify', category: 'command', severity: 'medium', title: 'Hooks skipped with git' },
  { rule_id: 'git-discard', category: 'command', severity: 'low', title: 'Uncommitted work discarded' },
  { rule_id: 'git-force-push', category: 'command', severity: 'high', title: 'Forced git push' },
  {
    rule_id: 'world-writable',
    category: 'command',
    severity: 'medium',
    title: 'File made writable for everyone',
  },
  {
    rule_id: 'download-to-shell',
    category: 'command',
    severity: 'high',
    title: 'Downloaded script run by a shell',
  },
  { rule_id: 'aws-access-key', category: 'secret', severity: 'critical', title: 'AWS access key' },
] as const

type Content = Omit<SessionRecord, 'id' | 'project_name' | 'created_at'>

/** What happened in a session: turns with tokens and tools; costs and scores follow from them when it is stored. */
export function demoSession(random: () => number, agent: Agent, touched: readonly string[]): Content {
  const below = (limit: number) => Math.floor(random() * limit)
  const models = MODELS[agent]
  const model = models[below(models.length)] ?? null
  const tools = TOOLS[agent]
  // most sessions go well, some badly
  const failing = random() ** 5 * 0.5
  const turns = 2 + Math.floor(random() ** 2 * MAX_TURNS)
  let context = 12_000 + below(10_000)
  const turn_records = Array.from({ length: turns }, (_, index) => {
    const creation = 400 + below(3_500)
    const tokens = {
      input: 4 + below(60),
      output: 80 + Math.floor(random() ** 2 * 1_800),
      cache_read: context,
      cache_creation: creation,
    }
    context += creation
    const calls = below(3)
    return {
      turn_number: index + 1,
      role: 'assistant' as const,
      model,
      tokens,
      tool_calls: Array.from({ length: calls }, () => ({
        name: tools[Math.floor(random() ** 1.6 * tools.length)] ?? 'Bash',
        ok: random() >= failing,
      })),
    }
  })
  return {
    type: 'session',
    source: agent,
    model,
    turns,
    turn_records,
    files_touched: [...touched],
    security_metadata: { findings: random() < WITH_FINDINGS ? [findingIn(random, touched, turns)] : [] },
  }
}

/** The same rule in the same file is the same finding. */
function findingIn(random: () => number, touched: readonly string[], turns: number): FindingRecord {
  const finding = FINDINGS[Math.floor(random() ** 1.7 * FINDINGS.length)] ?? FINDINGS[0]
  const file = touched[0] ?? 'README.md'
  return {
    ...finding,
    file,
    turn_number: 1 + Math.floor(random() * turns),
    fingerprint: `demo-${finding.rule_id}-${file}`,
  }
}
