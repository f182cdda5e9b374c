// The work of the demo's half year: each pull request is a branch with sessions and commits of one person; besides, there
// are sessions without one.

import type { CommitFile, CommitRecord } from '../../analysis/records/commit.ts'
import type { PrRiskRecord } from '../../analysis/records/risk.ts'
import type { SessionRecord } from '../../analysis/records/session.ts'
import { DAY_MS } from '../../base/dates.ts'
import { type Agent, demoSession, demoVersion } from './demo-session.ts'
import { PEOPLE, PROJECTS, TRAINING } from './demo-team.ts'
import { lifecycleOf, type Random, randomFrom } from './generate.ts'

export interface DemoPlan {
  days: number
  /** The same seed and time give the same records. */
  seed: number
  now: Date
}

export interface DemoWork {
  sessions: SessionRecord[]
  commits: CommitRecord[]
  pullRequests: PrRiskRecord[]
}

const PULL_REQUESTS = 170
/** Sessions on the main branch. */
const OTHER_SESSIONS = 420
/** More than a seed's sessions, each of which has random numbers of its own. */
const SESSIONS_OF_SEED = 10_000
/** The part of the calls for a prompt that is left after the training. */
const TRAINED = 0.55
const REPOSITORY_OWNER = 'acme'
const VERBS = [
  ['feat', 'Add'],
  ['feat', 'Add'],
  ['fix', 'Fix'],
  ['fix', 'Fix'],
  ['refactor', 'Move'],
  ['chore', 'Update'],
] as const
const NOUNS = ['validation', 'export', 'cache', 'retries', 'settings', 'list', 'limits', 'tests'] as const
const AGENTS: readonly Agent[] = ['claude-code', 'claude-code', 'claude-code', 'codex', 'codex', 'gemini']
const HOUR_MS = 3_600_000
/** Longer than any session, so that none ends later than now. */
const LONGEST_MS = 2 * HOUR_MS
const WORKDAY_HOURS = 9
/** This part of the sessions of a weekend is kept. */
const WEEKEND = 0.12

/** The records of `plan`, each kind in order of time; nothing is later than `plan.now`. */
export function generateWork({ days, seed, now }: DemoPlan): DemoWork {
  const random = randomFrom(seed)
  const { below } = random
  const files = PROJECTS.map(() => new Map<string, string[]>())
  const work: DemoWork = { sessions: [], commits: [], pullRequests: [] }
  const first = now.getTime() - days * DAY_MS
  const total = PEOPLE.reduce((sum, { weight }) => sum + weight, 0)
  const somebody = () => {
    let left = random() * total
    return Math.max(
      0,
      PEOPLE.findIndex(({ weight }) => {
        left -= weight
        return left < 0
      }),
    )
  }
  /** A time of a working day of the person, near `at`. */
  const workingTime = (at: number, who: number): number => {
    let day = Math.floor(at / DAY_MS)
    // 1970-01-01 was a Thursday
    const weekday = (day + 3) % 7
    // drawn on each day, so that what is drawn next is the same whatever day is today
    const [part, other] = [random(), below(5)]
    if (weekday > 4 && part > WEEKEND) day -= weekday - other
    const hour = (PEOPLE[who]?.begins ?? 8) + random() * WORKDAY_HOURS
    return Math.min(day * DAY_MS + hour * HOUR_MS, now.getTime() - LONGEST_MS)
  }
  const projectOf = (who: number): number => {
    const projects = PEOPLE[who]?.projects ?? [0]
    return (random() < 0.75 ? projects[0] : projects[below(projects.length)]) ?? 0
  }
  const addSession = (at: number, branch: Branch, touched: string[], number?: number) => {
    const agent = AGENTS[(branch.who + below(4)) % AGENTS.length] ?? 'claude-code'
    const isTrained =
      TRAINING.members.includes(authorOf(branch).email) && at >= now.getTime() - TRAINING.daysAgo * DAY_MS
    const own = randomFrom(seed * SESSIONS_OF_SEED + work.sessions.length)
    work.sessions.push({
      ...demoSession(own, agent, touched, isTrained ? TRAINED : 1),
      ...{ version: demoVersion(agent, at), effort: 'medium' },
      id: `sess_demo${String(work.sessions.length).padStart(4, '0')}`,
      ...branchFields(branch, number),
      ...timesOf(at, random),
    })
  }

  for (let nth = 0; nth < PULL_REQUESTS; nth += 1) {
    // a little more each month
    const at = first + (nth / PULL_REQUESTS) ** 0.85 * (days - 1) * DAY_MS
    const who = somebody()
    const project = projectOf(who)
    const { topics = [] } = PROJECTS[project] ?? {}
    const [kind, verb] = random.pick(VERBS)
    const topic = topics[below(topics.length)] ?? 'core'
    const noun = random.pick(NOUNS)
    const number = 100 + nth
    const branch = { project, who, branch: `${kind}/ACME-${number}-${topic}-${noun}` }
    const changed = new Map<string, CommitFile>()
    const shas: string[] = []
    const span = (0.5 + random() * 4) * DAY_MS
    const commits = 1 + below(5)
    for (let step = 0; step < commits; step += 1) {
      const change = changeFiles(files[project] ?? new Map(), project, topic, random)
      for (const file of change) changed.set(file.path, file)
      const sha = shaOf(`demo ${seed} ${nth} ${step}`)
      shas.push(sha)
      const committedAt = workingTime(at + (span * step) / commits, who)
      const subject = `${verb} ${noun} for ${topic}`
      work.commits.push(commitOf(branch, { sha, at: committedAt, subject, files: change, now }))
      const touched = change.map(({ path }) => path)
      for (let left = 1 + below(3); left > 0; left -= 1) {
        const workedAt = workingTime(at + (span * (step + random())) / commits, who)
        addSession(workedAt, branch, touched, random() < 0.5 ? number : undefined)
      }
    }
    work.pullRequests.push(
      pullRequestOf(branch, {
        number,
        title: `${verb} ${noun} for ${topic.replaceAll('-', ' ')}`,
        at: Math.min(at + span, now.getTime() - LONGEST_MS),
        files: [...changed.values()],
        commits: shas,
        now,
      }),
    )
  }
  for (let nth = 0; nth < OTHER_SESSIONS; nth += 1) {
    const who = somebody()
    const project = projectOf(who)
    const paths = [...(files[project]?.values() ?? [])].flat()
    const touched = paths.length === 0 ? [] : [paths[below(paths.length)] ?? 'README.md']
    addSession(workingTime(first + random() * days * DAY_MS, who), { project, who, branch: 'main' }, touched)
  }
  work.sessions.sort((a, b) => a.created_at.localeCompare(b.created_at))
  work.commits.sort((a, b) => a.committed_at.localeCompare(b.committed_at))
  return work
}

/** A branch and its author; `project` and `who` are indexes of PROJECTS and PEOPLE. */
interface Branch {
  project: number
  who: number
  branch: string
}

const projectName = ({ project }: Branch): string => PROJECTS[project]?.name ?? ''
const repoOf = (branch: Branch): string => `${REPOSITORY_OWNER}/${projectName(branch)}`
const authorOf = ({ who }: Branch) => ({ email: '', name: '', ...PEOPLE[who] })

export const shaOf = (text: string): string => new Bun.CryptoHasher('sha1').update(text).digest('hex')

/** The place of the branch's sessions; `number`: of a pull request that it is linked to. */
export const branchFields = (branch: Branch, number?: number) => ({
  project_name: projectName(branch),
  user_email: authorOf(branch).email,
  branch: branch.branch,
  ...(number === undefined ? {} : { pull_requests: [{ repo: repoOf(branch), number }] }),
})

export const commitOf = (
  branch: Branch,
  { at, now, ...commit }: Pick<CommitRecord, 'sha' | 'subject' | 'files'> & { at: number; now: Date },
): CommitRecord => ({
  type: 'commit',
  project: projectName(branch),
  author_email: authorOf(branch).email,
  author_name: authorOf(branch).name,
  committed_at: new Date(at).toISOString(),
  ...commit,
  ...writtenByAgents(commit, at, now),
})

/** Makes the agents' share of a commit, and what is left of it: always the same of the same commit. */
function writtenByAgents(
  { sha, files }: Pick<CommitRecord, 'sha' | 'files'>,
  at: number,
  now: Date,
): Pick<CommitRecord, 'ai' | 'survival'> {
  const part = (digit: number) => Number.parseInt(sha.charAt(digit), 16) / 15
  const added = files.reduce((sum, { additions }) => sum + additions, 0)
  const effective_lines = Math.round(added * 0.8)
  const lines = Math.round(effective_lines * (0.3 + 0.6 * part(0)))
  const others = Math.round(lines * 0.3 * part(1))
  const ageDays = (now.getTime() - at) / DAY_MS
  return {
    ai: {
      ...{ lines, effective_lines, by_agent: { 'claude-code': lines - others, codex: others } },
      ...{ provenance: 'transcript', sessions: [] },
    },
    survival: [
      ...(ageDays > 14 ? [{ days: 14 as const, lines: Math.round(lines * (0.8 + 0.2 * part(2))) }] : []),
      ...(ageDays > 30 ? [{ days: 30 as const, lines: Math.round(lines * (0.7 + 0.1 * part(2))) }] : []),
    ],
  }
}

export const pullRequestOf = (
  branch: Branch,
  {
    number,
    title,
    at,
    now,
    ...pull
  }: { number: number; title: string; at: number; now: Date } & Required<Pick<PrRiskRecord, 'commits'>> & {
      files: CommitFile[]
    },
): PrRiskRecord => ({
  type: 'pr_risk',
  repo: repoOf(branch),
  pr_number: number,
  pr_title: title,
  files_changed: pull.files.length,
  created_at: new Date(at).toISOString(),
  project: projectName(branch),
  author_email: authorOf(branch).email,
  branch: branch.branch,
  ...lifecycleOf(at, now.getTime(), number % 9 === 0),
  ...pull,
})

function timesOf(at: number, random: Random) {
  const created_at = new Date(at).toISOString()
  const duration_seconds = Math.round(120 + random() ** 2 * 5_400)
  return {
    created_at,
    started_at: created_at,
    ended_at: new Date(at + duration_seconds * 1000).toISOString(),
    duration_seconds,
  }
}

/** Makes the changes of a commit: a few files of a topic, old ones mostly. `known` has the paths by topic. */
function changeFiles(
  byTopic: Map<string, string[]>,
  project: number,
  topic: string,
  random: Random,
): CommitFile[] {
  const { below } = random
  const paths = byTopic.get(topic) ?? []
  byTopic.set(topic, paths)
  const { folders = [] } = PROJECTS[project] ?? {}
  const changed = new Map<string, CommitFile>()
  for (let left = 1 + Math.floor(random() ** 2 * 6); left > 0; left -= 1) {
    const isNew = paths.length < 2 || random() < 0.2
    const [folder, extension] = folders[below(folders.length)] ?? ['src', 'ts']
    const path = isNew
      ? `${folder}/${topic}/${topic}-${paths.length + 1}.${extension}`
      : (paths[below(paths.length)] ?? '')
    if (changed.has(path)) continue
    if (isNew) paths.push(path)
    changed.set(path, {
      path,
      status: isNew ? 'added' : 'modified',
      additions: 4 + Math.floor(random() ** 2 * 180),
      deletions: isNew ? 0 : below(50),
    })
  }
  return [...changed.values()]
}
