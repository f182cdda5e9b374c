// Makes up sessions, as many as are asked for, and the names and random numbers of all made-up records.

import type { FindingRecord } from '../../analysis/records/finding.ts'
import type { PrRiskRecord } from '../../analysis/records/risk.ts'
import type { SessionRecord } from '../../analysis/records/session.ts'
import { reportedQuality } from '../../analysis/scoring/quality.ts'
import { addDays, DAY_MS } from '../../base/dates.ts'
import { findingOf, type Rule } from './findings.ts'

export interface SeedPlan {
  sessions?: number
  commits?: number
  /** Scores of pull requests. */
  risk?: number
  audit?: number
  projects: number
  /** Days before `today` that the sessions are spread over. */
  days: number
  /** Branches that sessions without a ticket are on. */
  branches?: number | undefined
  /** Tickets of the other half of the sessions, each with a branch of its own. */
  tickets?: number | undefined
  /** The same seed, plan and day give the same records. */
  seed: number
  /** UTC date; nothing is generated for this day or later. */
  today: string
}

const MODELS = ['claude-opus-4-5', 'claude-sonnet-4-5', 'gpt-5.2-codex', 'gemini-3-pro-preview'] as const
const SOURCES = ['claude-code', 'claude-code', 'codex', 'gemini'] as const
const TOOLS = ['Read', 'Edit', 'Bash', 'Grep', 'Write'] as const
export const MEMBERS = 25

export interface Random {
  (): number
  below(limit: number): number
  pick<Item>(items: readonly [Item, ...Item[]]): Item
}

/** Mulberry32 (Tommy Ettinger, public domain): 32 bits of state. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(random() * limit)
  return Object.assign(random, {
    below,
    pick: <Item>(items: readonly [Item, ...Item[]]) => items[below(items.length)] ?? items[0],
  })
}

/** The state of a pull request: two days after it was opened it is merged, or closed where `isClosed`. */
export function lifecycleOf(
  openedAt: number,
  now: number,
  isClosed: boolean,
): Pick<PrRiskRecord, 'state' | 'merged_at' | 'closed_at'> {
  const endsAt = openedAt + 2 * DAY_MS
  if (endsAt > now) return { state: 'open' }
  const closed_at = new Date(endsAt).toISOString()
  return isClosed ? { state: 'closed', closed_at } : { state: 'merged', merged_at: closed_at, closed_at }
}

/** The items in arrays of `size`, the last one with the rest. */
export function* batchesOf<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

const BRANCHES = 200
const TICKETS = 5_000
/** Part of the days in which a ticket is worked on. */
const OF_TICKET = 0.05

export const projectName = (index: number): string => `project-${String(1 + index).padStart(2, '0')}`

/** The ticket at this part of the days: its branch in one project, on which one member works. */
export function ticketOf({ projects, tickets = TICKETS }: SeedPlan, part: number, ofProject?: number) {
  const at = Math.floor(part * tickets) % Math.max(1, tickets)
  const ticket = ofProject === undefined ? at : Math.min(tickets - 1, at - (at % projects) + ofProject)
  return {
    project: projectName(ticket % projects),
    branch: `feature/SHOP-${1 + ticket}`,
    author_email: addressOf(ticket % MEMBERS),
  }
}

export const addressOf = (member: number): string => `dev${1 + member}@example.com`

/** Chooses branches, of a ticket for every second session, by random numbers of its own. */
function branchChooser(plan: SeedPlan) {
  const { sessions = 0, branches = BRANCHES, tickets = TICKETS, seed } = plan
  const random = randomFrom(seed ^ 0x6272_616e)
  return (index: number, project: number): { branch: string; author_email?: string } => {
    if (tickets > 0 && random() < 0.5) return ticketOf(plan, index / sessions + random() * OF_TICKET, project)
    const branch = random.below(Math.max(1, branches))
    return { branch: branch === 0 ? 'main' : `topic-${branch}` }
  }
}

/** Plausible sessions in order of time, spread evenly over the days; costs and scores are skewed. */
export function* generateSessions(plan: SeedPlan): Generator<SessionRecord> {
  const random = randomFrom(plan.seed)
  const choose = branchChooser(plan)
  const first = Date.parse(addDays(plan.today, -plan.days))
  const { sessions = 0 } = plan
  for (let index = 0; index < sessions; index += 1) {
    const at = first + Math.floor(((index + random()) / sessions) * plan.days * DAY_MS)
    const createdAt = new Date(at).toISOString()
    const model = random.pick(MODELS)
    const calls = 1 + Math.floor(random() ** 2 * 120)
    const cost = Math.round(random() ** 3 * 12_000_000) / 1e6
    const output = Math.floor(calls * (100 + random() * 600))
    const project = random.below(plan.projects)
    const someone = random.below(MEMBERS)
    const { branch, author_email = addressOf(someone) } = choose(index, project)
    yield {
      type: 'session',
      id: `sess_seed${plan.seed}_${index}`,
      project_name: projectName(project),
      created_at: createdAt,
      user_email: author_email,
      source: random.pick(SOURCES),
      branch,
      model,
      models: [model],
      started_at: createdAt,
      ended_at: new Date(at + calls * 20_000).toISOString(),
      duration_seconds: calls * 20,
      turns: calls,
      estimated_cost: cost,
      cost_source: 'estimated',
      tokens: { input: calls * 40, output, cache_read: calls * 30_000, cache_creation: calls * 1_500 },
      tools_used: TOOLS.slice(0, 1 + random.below(TOOLS.length)).map((name, rank) => ({
        name,
        calls: 1 + Math.floor(calls / (rank + 1)),
        errors: random.below(2),
      })),
      files_touched: [`src/module-${random.below(40)}/index.ts`],
      quality_metadata: reportedQuality(Math.round(10_000 - random() ** 2 * 6_000) / 100),
      security_metadata: { findings: random() < 0.03 ? [findingAt(random)] : [] },
    }
  }
}

const FOUND: readonly Rule[] = ['git-force-push', 'git-no-verify', 'world-writable', 'sudo']

/** The same rule in the same file is the same finding: their number does not grow with the sessions. */
function findingAt(random: Random): FindingRecord {
  const rule = FOUND[Math.floor(random() ** 2 * FOUND.length)] ?? 'sudo'
  const module = random.below(40)
  return findingOf(rule, `src/module-${module}/index.ts`, { fingerprint: `seed-${rule}-${module}` })
}
