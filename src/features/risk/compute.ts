// Computes the risk of a pull request from the history of its files.

import type { Component } from '../../analysis/records/risk.ts'
import { fileKeyOf } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import type { ScoreComponent } from './contributions.ts'
import { couplingScore, type MissingFile, missingFiles } from './coupling.ts'
import { createHistory } from './history.ts'
import {
  commitsIn,
  countSingleOwned,
  findingsIn,
  type HistoryPlace,
  type HistoryRange,
  linesOf,
  MAX_COMMITS,
  type StoredChange,
} from './history-queries.ts'
import { impactScore } from './impact.ts'
import { type Change, componentsOf, type RiskComponents } from './prepare.ts'
import { measureChange, regressionScore } from './regression.ts'
import { type OpenFindings, securityComponent } from './sensitive-paths.ts'

/** 12 months: the history before a change. */
const HISTORY_MS = 365 * 86_400_000
/** Changes, and files of them, whose owners and findings are looked up in one statement. */
const CHANGES_PER_STATEMENT = 200
const FILES_PER_STATEMENT = 5_000
/** Commits read beyond those before a change, for the changes after it. */
const COMMITS_AHEAD = 500

/** The parts that follow from the history, with what the findings for the part of security are looked up by. */
export interface ComputedRisk extends Record<Exclude<Component, 'security'>, ScoreComponent> {
  change: Change
  /** All names of the change's files: see ChangeInHistory. */
  names: readonly string[]
}

/** A change with what the history contains of its files. */
interface ChangeInHistory {
  change: Change
  /** current names of its files */
  files: string[]
  /** all names of its files: those given, those before a rename, and the current ones */
  names: string[]
  hotspot: number
  missing: MissingFile[]
}

/**
 * The parts of each change's score but for security, in the order given. Reads, for each change, at most the 2,000 latest commits of its
 * project in the 12 months before it (and each commit once for all the changes), and its own files' latest 200. `pause` is
 * called between two changes.
 */
export async function computeComponents(
  tx: ISql,
  orgId: string,
  changes: readonly Change[],
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<ComputedRisk[]> {
  const parts = new Map<Change, ComputedRisk>()
  for (const [project, ofProject] of Map.groupBy(changes, (change) => change.project)) {
    // the history can only advance in time
    const ordered = ofProject.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
    const lookUp = createLookUp(tx, orgId, project, new Date(ordered.at(-1)?.createdAt ?? 0))
    let batch: ChangeInHistory[] = []
    let names = 0
    for (const change of ordered) {
      const history = await lookUp(change)
      batch.push(history)
      names += history.names.length
      await pause()
      if (batch.length < CHANGES_PER_STATEMENT && names < FILES_PER_STATEMENT) continue
      await computePartsOf(tx, orgId, project, batch, parts)
      batch = []
      names = 0
    }
    await computePartsOf(tx, orgId, project, batch, parts)
  }
  return changes.flatMap((change) => parts.get(change) ?? [])
}

/** A function that looks up changes of one project, in order of time, in the history before each; none is after `last`. */
function createLookUp(
  tx: ISql,
  orgId: string,
  project: string,
  last: Date,
): (change: Change) => Promise<ChangeInHistory> {
  const history = createHistory()
  const lines = new Map<string, number>()
  const readUntil = createReader(tx, orgId, project, last)
  return async (change) => {
    const before = Date.parse(change.createdAt)
    const from = before - HISTORY_MS
    const { commits, files: unknown } = await readUntil(before, from)
    if (unknown.length > 0) {
      const linesByFile = await linesOf(tx, orgId, project, unknown)
      for (const file of unknown) lines.set(file, linesByFile.get(file) ?? 0)
    }
    history.advance(commits, from, MAX_COMMITS)
    const names = change.files.flatMap(({ path, previous_path }) => {
      return previous_path == null ? [[path]] : [[path, previous_path]]
    })
    // until the commit of a rename is stored, the history has the file under its old name
    const files = names.map(([path = '', previous]) => {
      const now = history.nameNow(path)
      return previous === undefined || history.revisions(now) > 0 ? now : history.nameNow(previous)
    })
    return {
      change,
      files: [...new Set(files)],
      names: [...new Set([...names.flat(), ...files])],
      hotspot: history.hotspot(files, lines),
      missing: missingFiles(history, new Set([...files, ...names.flat()])),
    }
  }
}

/**
 * A function that gives the commits before a time that it has not given yet, at most the latest MAX_COMMITS since `from`, and
 * those files of what was read for it that were not read before; times ascend up to `last`. It reads some commits ahead, so that
 * many changes need few statements.
 */
function createReader(tx: ISql, orgId: string, project: string, last: Date) {
  let place: HistoryPlace = { at: new Date(0), sha: '' }
  let ahead: readonly StoredChange[] = []
  const names = new Set<string>()
  const newFilesOf = (commits: readonly StoredChange[]) => {
    const files = new Set(commits.flatMap((commit) => commit.files.map(({ file }) => file)))
    return [...files.difference(names)]
  }
  const takeAhead = (before: number) => {
    const end = ahead.findIndex(({ at }) => at >= before)
    const changes = end === -1 ? ahead : ahead.slice(0, end)
    ahead = ahead.slice(changes.length)
    return changes
  }
  return async (before: number, from: number) => {
    const changes = takeAhead(before)
    if (place.at.getTime() >= before) return { commits: changes, files: [] }
    const after = place.at.getTime() < from ? { at: new Date(from), sha: '' } : place
    const read = (range: Pick<HistoryRange, 'after' | 'before' | 'keep' | 'limit'>) =>
      commitsIn(tx, orgId, { project, ...range })
    const earlier = await read({ after, before: new Date(before), keep: 'latest', limit: MAX_COMMITS })
    const start = { at: new Date(before), sha: '' }
    const range = { after: start, before: last, keep: 'earliest', limit: COMMITS_AHEAD } as const
    ahead = before < last.getTime() ? await read(range) : []
    const end = ahead.at(-1)
    place =
      end === undefined || ahead.length < COMMITS_AHEAD
        ? { at: last, sha: '' }
        : { at: new Date(end.at), sha: end.sha }
    const commits = [...changes, ...earlier]
    const files = newFilesOf([...commits, ...ahead])
    for (const file of files) names.add(file)
    return { commits, files }
  }
}

async function computePartsOf(
  tx: ISql,
  orgId: string,
  project: string,
  batch: readonly ChangeInHistory[],
  parts: Map<Change, ComputedRisk>,
): Promise<void> {
  if (batch.length === 0) return
  const touched = batch.flatMap(({ change, files }, index) =>
    files.map((file) => ({ change: index, file, before: change.createdAt })),
  )
  const singleOwned = await countSingleOwned(tx, orgId, project, touched)
  for (const [index, { change, files, names, hotspot, missing }] of batch.entries()) {
    const measures = measureChange(change.files, change.title)
    const lines = measures.la + measures.ld
    parts.set(change, {
      change,
      names,
      impact: impactScore({
        files: files.length,
        lines,
        entropy: measures.entropy,
        hotspot,
        singleOwned: singleOwned.get(index) ?? 0,
      }),
      regression: regressionScore(measures),
      coupling: couplingScore(missing, lines),
    })
  }
}

/** All parts of each score, with that of security from the findings of now: some milliseconds for 100 changes. */
export async function withSecurity(tx: ISql, orgId: string, computed: readonly ComputedRisk[]) {
  const components = new Map<ComputedRisk, RiskComponents>()
  for (const [project, ofProject] of Map.groupBy(computed, ({ change }) => change.project)) {
    const lists = ofProject.map(({ names }) => names)
    const findings = await findingsOfNames(tx, orgId, project, lists)
    for (const [index, risk] of ofProject.entries()) {
      const security = securityComponent(risk.change.files, findings[index] ?? NO_FINDINGS)
      components.set(risk, componentsOf({ ...risk, security }))
    }
  }
  return computed.flatMap((risk) => components.get(risk) ?? [])
}

const NO_FINDINGS: OpenFindings = { critical: 0, high: 0, medium: 0, low: 0 }

/** The open findings in the files of each list of names. Looks up each name once. */
async function findingsOfNames(
  tx: ISql,
  orgId: string,
  project: string,
  lists: readonly (readonly string[])[],
): Promise<OpenFindings[]> {
  const names = [...new Set(lists.flat())]
  const byFile = new Map<string, OpenFindings>()
  for (let start = 0; start < names.length; start += FILES_PER_STATEMENT) {
    const keys = new Map(
      names.slice(start, start + FILES_PER_STATEMENT).map((name) => [fileKeyOf(name), name]),
    )
    for (const [key, findings] of await findingsIn(tx, orgId, project, [...keys.keys()]))
      byFile.set(keys.get(key) ?? '', findings)
  }
  return lists.map((list) => list.reduce((sum, name) => plus(sum, byFile.get(name)), NO_FINDINGS))
}

const plus = (a: OpenFindings, b = NO_FINDINGS): OpenFindings => ({
  critical: a.critical + b.critical,
  high: a.high + b.high,
  medium: a.medium + b.medium,
  low: a.low + b.low,
})
