import type { ISql } from '../db/client.ts'
import { fileKeyOf } from '../ids.ts'
import { couplingScore, type MissingFile, missingFiles } from './coupling.ts'
import { createHistory, type MovingHistory } from './history.ts'
import { commitsIn, countSingleOwned, findingsIn, linesOf, MAX_COMMITS } from './history-queries.ts'
import { impactScore } from './impact.ts'
import type { Change, RiskParts } from './prepare.ts'
import { measureChange, regressionScore } from './regression.ts'
import { securityPart } from './sensitive-paths.ts'

/** 12 months: the history before a change. */
const HISTORY_MS = 365 * 86_400_000
/** Changes whose owners and findings are looked up in one statement. */
const CHANGES_PER_STATEMENT = 200

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
 * The parts of each change's score, in the order given. Reads, for each change, at most the 2,000 latest commits of its
 * project in the 12 months before it (and each commit once for all the changes), and its own files' latest 200.
 */
export async function computeParts(
  tx: ISql,
  orgId: string,
  changes: readonly Change[],
): Promise<RiskParts[]> {
  const parts = new Map<Change, RiskParts>()
  for (const [project, own] of Map.groupBy(changes, (change) => change.project)) {
    // the history can only advance in time
    const ordered = own.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
    const lookUp = createLookUp(tx, orgId, project)
    for (let start = 0; start < ordered.length; start += CHANGES_PER_STATEMENT) {
      const seen: ChangeInHistory[] = []
      for (const change of ordered.slice(start, start + CHANGES_PER_STATEMENT))
        seen.push(await lookUp(change))
      await computePartsOf(tx, orgId, project, seen, parts)
    }
  }
  return changes.flatMap((change) => parts.get(change) ?? [])
}

/** A function that looks up changes of one project, in order of time, in the history before each. */
function createLookUp(
  tx: ISql,
  orgId: string,
  project: string,
): (change: Change) => Promise<ChangeInHistory> {
  const history = createHistory()
  const lines = new Map<string, number>()
  let readUntil = Number.NEGATIVE_INFINITY
  return async (change) => {
    const before = Date.parse(change.createdAt)
    const from = before - HISTORY_MS
    if (before > readUntil) {
      const range = { project, from: new Date(Math.max(from, readUntil, 0)), before: new Date(before) }
      history.advance(await commitsIn(tx, orgId, range), from, MAX_COMMITS)
      readUntil = before
    }
    await addLines(tx, orgId, project, history, lines)
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

async function addLines(
  tx: ISql,
  orgId: string,
  project: string,
  history: MovingHistory,
  lines: Map<string, number>,
): Promise<void> {
  const unknown = [...history.files()].filter((file) => !lines.has(file))
  if (unknown.length === 0) return
  const found = await linesOf(tx, orgId, project, unknown)
  for (const file of unknown) lines.set(file, found.get(file) ?? 0)
}

async function computePartsOf(
  tx: ISql,
  orgId: string,
  project: string,
  seen: readonly ChangeInHistory[],
  parts: Map<Change, RiskParts>,
): Promise<void> {
  const touched = seen.flatMap(({ change, files }, index) =>
    files.map((file) => ({ change: index, file, before: change.createdAt })),
  )
  const singleOwned = await countSingleOwned(tx, orgId, project, touched)
  const named = seen.flatMap(({ names }, index) =>
    names.map((name) => ({ change: index, fileKey: fileKeyOf(name) })),
  )
  const findings = await findingsIn(tx, orgId, project, named)
  for (const [index, { change, files, hotspot, missing }] of seen.entries()) {
    const measures = measureChange(change.files, change.title)
    const scored = {
      impact: impactScore({
        files: files.length,
        entropy: measures.entropy,
        hotspot,
        singleOwned: singleOwned.get(index) ?? 0,
      }),
      regression: regressionScore(measures),
      security: securityPart(
        change.files.map(({ path }) => path),
        findings.get(index) ?? { critical: 0, high: 0, medium: 0, low: 0 },
      ),
      coupling: couplingScore(missing),
    }
    parts.set(change, {
      scores: {
        impact: scored.impact.score,
        regression: scored.regression.score,
        security: scored.security.score,
        coupling: scored.coupling.score,
      },
      contributions: {
        impact: scored.impact.contributions,
        regression: scored.regression.contributions,
        security: scored.security.contributions,
        coupling: scored.coupling.contributions,
      },
    })
  }
}
