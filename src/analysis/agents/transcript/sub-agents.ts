import type { FileGroup } from './source-file.ts'
import type { Transcript } from './transcript.ts'

/** A session that a person started, into which `startedSessions` groups transcripts, and the transcripts of what was done in it. */
export interface StartedSession {
  id: string
  /** Its own, where that is in the group, and those of its sub-agents. */
  transcripts: [Transcript, ...Transcript[]]
}

/** The sessions of a group: what sub-agents did belongs to the first of the sessions that started one another. */
export function startedSessions({ transcripts }: FileGroup): StartedSession[] {
  const sessions = new Map<string, StartedSession>()
  for (const transcript of transcripts.values()) {
    const id = rootOf(transcripts, transcript)
    const session = sessions.get(id)
    if (session === undefined) sessions.set(id, { id, transcripts: [transcript] })
    else session.transcripts.push(transcript)
  }
  return [...sessions.values()]
}

function rootOf(transcripts: ReadonlyMap<string, Transcript>, transcript: Transcript): string {
  const ids = new Set<string>()
  let id = transcript.id
  for (;;) {
    ids.add(id)
    const parent = transcripts.get(id)?.parentId ?? null
    // a damaged file may name itself
    if (parent === null || ids.has(parent)) return id
    id = parent
  }
}
