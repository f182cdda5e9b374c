// Lists what an agent's session and its sub-agents wrote in files, and the commits that they made.

import { dirname, isAbsolute, join } from 'node:path'
import { sessionIdOf } from '../../../base/ids.ts'
import type { FindRepository } from '../git/project-name.ts'
import type { Time } from '../transcript/contents.ts'
import { pathsIn } from '../transcript/paths.ts'
import type { StartedSession } from '../transcript/sub-agents.ts'
import { byFirstUse, type Transcript } from '../transcript/transcript.ts'
import { withoutWorktree, workspaceOf } from '../transcript/workspace.ts'
import { without } from '../transcript/written-lines.ts'

/** An act of a session that a commit may contain. */
interface AgentAction {
  id: string
  /** The id of its record. */
  session: string
  agent: string
  /** In ms since 1970. */
  at: number
}

/** The lines that a call wrote in one file. */
export interface WrittenEdit extends AgentAction {
  /** The repository's name; null where it is not known. */
  repository: string | null
  /** In the repository. */
  path: string
  /** Keys of the lines, one after the other. */
  keys: string
}

/** A commit that an agent noted as the session's own. */
export interface MadeCommit extends AgentAction {
  /** May be cut. */
  sha: string
}

const idOf = (...parts: string[]): string => Bun.hash.xxHash3(parts.join('\0')).toString(36)

/** Returns the edits and commits of a session and its sub-agents. An edit that failed or was rejected wrote nothing. */
export const writtenBy = (
  { id, transcripts }: StartedSession,
  find: FindRepository,
): (WrittenEdit | MadeCommit)[] =>
  transcripts.flatMap((transcript) => {
    const session = sessionIdOf(id)
    const head = { session, agent: transcript.agent }
    const commits = [...transcript.madeCommits].map(([sha, at]) => ({
      ...{ id: idOf(session, sha), ...head, at: millisOf(transcript, at), sha },
    }))
    return [...editsOf(transcript, head, find), ...commits]
  })

const millisOf = ({ firstAt, fileFrom }: Transcript, at: Time): number =>
  Date.parse(at ?? firstAt ?? fileFrom ?? '')

function editsOf(
  transcript: Transcript,
  head: Pick<AgentAction, 'session' | 'agent'>,
  find: FindRepository,
): WrittenEdit[] {
  const placeOf = placesOf(transcript, find)
  const before = new Map<string, string[]>()
  const calls = [...transcript.calls].filter(
    ([id, { effects }]) => effects.written.length > 0 && transcript.results.get(id)?.ok,
  )
  calls.sort(([, a], [, b]) => a.position - b.position)
  return calls.flatMap(([callId, { effects, turn }]) =>
    effects.written.flatMap(({ path, keys, isWhole }) => {
      const earlierKeys = before.get(path) ?? []
      // a file that is written as a whole has also what the session wrote in it before
      const newKeys = isWhole ? without(keys, earlierKeys) : keys
      before.set(path, [...earlierKeys, ...newKeys])
      const at = millisOf(transcript, turn.at)
      if (newKeys.length === 0 || Number.isNaN(at)) return []
      return [{ id: idOf(head.session, callId, path), ...head, at, ...placeOf(path), keys: newKeys.join('') }]
    }),
  )
}

/** Finds the repository of a session's paths: one of this machine, else the one that the session names. */
function placesOf(
  transcript: Transcript,
  find: FindRepository,
): (path: string) => Pick<WrittenEdit, 'repository' | 'path'> {
  const workspace = workspaceOf(transcript, find)
  const [base] = byFirstUse(transcript.folders)
  return (path) => {
    const full = isAbsolute(path) || base === undefined ? path : join(base, path)
    const folder = dirname(full)
    const root = find(folder) ?? find(withoutWorktree(folder))
    return root === null
      ? { repository: workspace.isOfRepository ? workspace.project : null, path: workspace.pathOf(path) }
      : { repository: root.name, path: pathsIn({ base, roots: root.roots })(full) }
  }
}
