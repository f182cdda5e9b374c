// Makes of a transcript the parts of its session that are sent (records/fragments.ts).

import { cut } from '../../../base/text.ts'
import { mergeById, mergeCall } from '../../fragments/merge.ts'
import { type CallFragment, fragmentId, newCall, type SessionFragments } from '../../records/fragments.ts'
import { notesOf } from '../../records/session.ts'
import { asCounts } from './source-file.ts'
import type { Transcript } from './transcript.ts'
import type { Turn } from './transcript-model.ts'
import type { Workspace } from './workspace.ts'

const MAX_NAME = 200
const MAX_BRANCH = 500
const MAX_TITLE = 10_000

interface FragmentsOptions {
  workspace: Workspace
  /** Whether the user said what the project's name is. */
  isNamed: boolean
  /** Whether texts are kept. */
  withTitle: boolean
}

export function fragmentsOf(
  transcript: Transcript,
  { workspace: { pathOf, isOfRepository }, isNamed, withTitle }: FragmentsOptions,
): SessionFragments {
  const isSubAgent = isStarted(transcript)
  return {
    agent: transcript.agent,
    isFork: transcript.isFork,
    times: { from: transcript.firstAt, to: transcript.lastAt },
    fileTimes: { from: transcript.fileFrom, to: transcript.fileTo },
    project: {
      // telemetry has the ranks 0 and 1
      rank: isNamed ? 4 : isOfRepository ? 3 : 2,
      at: transcript.firstAt,
    },
    branch:
      transcript.branch === null
        ? null
        : { ...transcript.branch, name: cut(transcript.branch.name, MAX_BRANCH) },
    title: transcript.title === null || isSubAgent || !withTitle ? null : cut(transcript.title, MAX_TITLE),
    pullRequests: [...transcript.pullRequests.values()],
    turns: sortedById([...turnsOf(transcript)].map(turnPart)),
    calls: callParts(transcript, pathOf),
    events: sortedById([...transcript.events.values()]),
    secrets: sortedById(
      [...transcript.secrets.values()].map(({ place, secret }) => {
        const path = place.call?.effects.file ?? null
        const file = path === null ? null : pathOf(path)
        const { ruleId, title, line, severity, fingerprint } = secret
        const id = fragmentId(`${fingerprint} ${file ?? ''}`)
        const { turn, where, exposed } = place
        return {
          ...{ id, at: turn?.at ?? null, turn: turn?.id ?? null, file, where, exposed },
          ...{ ruleId, title, line, severity, fingerprint },
        }
      }),
    ),
    modes: sortedById([...transcript.modes.values()]),
    runs: sortedById(
      [...transcript.runs].map(([key, { totals, over }]) => ({
        id: fragmentId(key),
        totals,
        over: over.map(fragmentId),
      })),
    ),
    whole: transcript.whole,
    ...notesOf(transcript.notes),
  }
}

const sortedById = <Item extends { id: string }>(items: Item[]): Item[] =>
  mergeById(items, [], (item) => item)

/** Whether another session started it. A damaged file may name itself. */
const isStarted = ({ id, parentId }: Transcript): boolean => parentId !== null && parentId !== id

// a sub-agent's prompts are not a person's
function* turnsOf(transcript: Transcript): Generator<Turn> {
  if (!isStarted(transcript)) yield* transcript.prompts.values()
  yield* transcript.messages.values()
}

function turnPart({ id, role, at, position, message }: Turn): SessionFragments['turns'][number] {
  return {
    id,
    role,
    at,
    position,
    model: message?.model == null ? null : cut(message.model, MAX_NAME),
    tokens: message?.tokens == null ? null : asCounts(message.tokens),
    cost: message?.cost == null ? null : String(message.cost),
    estimate: null,
    searches: message?.searches ?? 0,
    ...(message?.request == null ? {} : { request: fragmentId(message.request) }),
    ...(message?.tier == null ? {} : { tier: message.tier }),
    ...notesOf(message?.notes ?? {}),
  }
}

function callParts(transcript: Transcript, pathOf: (path: string) => string): CallFragment[] {
  const calls = [...transcript.calls].map(([id, { turn, position, name, effects, dangerousActions }]) => ({
    ...newCall(id),
    ...{ turn: turn.id, position, name },
    edits: effects.edits.map(pathOf),
    commits: effects.runsCommit,
    tests: effects.runsTests,
    actions: dangerousActions.map((action) => ({
      ...action,
      file: action.file === null ? null : pathOf(action.file),
    })),
  }))
  const results = [...transcript.results].map(([id, { ok, searches }]) => ({
    ...newCall(id),
    ok,
    searches,
    rejected: transcript.rejected.has(id),
  }))
  return mergeById(calls, results, mergeCall)
}
