// Makes up a session of the demo.

import type { FindingRecord } from '../../analysis/records/finding.ts'
import type { CallNotes, SessionRecord } from '../../analysis/records/session.ts'
import { DAY_MS } from '../../base/dates.ts'
import { demoFinding, type Rule } from './findings.ts'
import type { Random } from './generate.ts'

export type Agent = 'claude-code' | 'codex' | 'gemini'

/** The models of each agent, the usual one first. */
const MODELS: Record<Agent, readonly [string, ...string[]]> = {
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

const FOUND: readonly Rule[] = [
  'sudo',
  'git-no-verify',
  'git-discard',
  'git-force-push',
  'world-writable',
  'download-to-shell',
  'aws-access-key',
]

/** Notes of some calls of Claude Code. */
const NOTES: readonly CallNotes[] = [
  ...Array<CallNotes>(8).fill({}),
  { skill: 'review', plugin: 'acme-tools' },
  { subagent: 'Explore' },
  { subagent: 'Explore' },
  { mcp_server: 'linear' },
]

const RELEASE_DAYS = 14
/** The version that an agent had, of which there was a new one every two weeks. */
export function demoVersion(agent: Agent, atMs: number): string {
  const release = Math.floor(atMs / DAY_MS / RELEASE_DAYS) % 1_000
  return agent === 'claude-code' ? `2.1.${release}` : `0.${release}.0`
}

type Content = Omit<SessionRecord, 'id' | 'project_name' | 'created_at'>

const MIN_CALLS_OF_PROMPT = 3

/**
 * Makes the content of a session: turns with tokens and tools; costs and scores follow from them when it is stored.
 * `part`: that of the usual calls for a prompt.
 */
export function demoSession(random: Random, agent: Agent, touched: readonly string[], part = 1): Content {
  const { below } = random
  const model = random.pick(MODELS[agent])
  const tools = TOOLS[agent]
  // most sessions go well, some badly
  const failing = random() ** 5 * 0.5
  const asked = 2 + Math.floor(random() ** 2 * MAX_TURNS)
  const turns = Math.ceil(asked * part)
  let context = 12_000 + below(10_000)
  const calls = Array.from({ length: turns }, (_, index) => {
    const creation = 400 + below(3_500)
    const tokens = {
      input: 4 + below(60),
      output: 80 + Math.floor(random() ** 2 * 1_800),
      cache_read: context,
      cache_creation: creation,
    }
    context += creation
    const uses = below(3)
    return {
      role: 'assistant' as const,
      model,
      ...(agent === 'claude-code' ? NOTES[index % NOTES.length] : {}),
      tokens,
      tool_calls: Array.from({ length: uses }, () => ({
        name: tools[Math.floor(random() ** 1.6 * tools.length)] ?? 'Bash',
        ok: random() >= failing,
      })),
    }
  })
  // somebody asks for something every few calls
  const callsOfPrompt = Math.round((MIN_CALLS_OF_PROMPT + (asked % 5)) * part)
  const turn_records = calls
    .flatMap((call, index) => (index % callsOfPrompt === 0 ? [{ role: 'user' as const }, call] : [call]))
    .map((turn, index) => ({ turn_number: index + 1, ...turn }))
  return {
    type: 'session',
    source: agent,
    model,
    // files of Codex name the plan that pays
    ...(agent === 'codex' ? { paid_by: 'plan' as const } : {}),
    turns: turn_records.length,
    turn_records,
    files_touched: [...touched],
    security_metadata: { findings: random() < WITH_FINDINGS ? [findingIn(random, touched, turns)] : [] },
  }
}

function findingIn(random: Random, touched: readonly string[], turns: number): FindingRecord {
  const rule = FOUND[Math.floor(random() ** 1.7 * FOUND.length)] ?? 'sudo'
  return demoFinding(rule, touched[0] ?? 'README.md', 1 + random.below(turns))
}
