// Reads git-ai's notes on commits (authorship 3.0.0): under each path the lines of a session of an agent, then JSON about these.

import { sessionIdOf } from '../../../base/ids.ts'
import type { Blobs } from '../git/read-blobs.ts'
import { type Git, runGit } from '../git/run-git.ts'
import { isObject, type Json, objectOf, parseJson, textOf } from '../transcript/json.ts'
import { parseRanges } from './line-ranges.ts'

/** The lines of a file that a session wrote. */
export interface NotedLines {
  path: string
  agent: string
  session: string
  /** First and last line of each part. */
  ranges: [number, number][]
}

const REF = 'refs/notes/ai'
const SCHEMA = /^authorship\/3\./
/** Their names of agents that we call otherwise. */
const AGENTS: Readonly<Record<string, string>> = { claude: 'claude-code', 'gemini-cli': 'gemini' }

/** The id of what all notes are; null where there are none. */
export async function noteState(git: Git): Promise<string | null> {
  const { output } = await runGit(git, ['rev-parse', '--verify', '--quiet', `${REF}^{commit}`])
  return output.trim() || null
}

/** The commits that have a note, with its path. `before`: only those whose notes changed since then; null or gone: all. */
export async function notedCommits(git: Git, before: string | null): Promise<Map<string, string>> {
  const list = async (...args: string[]) => await runGit(git, [...args, '-r', '-z', '--name-only'])
  const changed = before === null ? null : await list('diff-tree', before, REF)
  const { output } = changed?.code === 0 ? changed : await list('ls-tree', REF)
  // `ab/cd…`, in more or fewer parts
  const paths = output.split('\0').filter((path) => path !== '')
  return new Map(paths.map((path) => [path.replaceAll('/', ''), path]))
}

/** Reads notes by the hash of their commit, each with its path. */
export async function readNotes(
  blobs: Blobs,
  noted: ReadonlyMap<string, string>,
): Promise<Map<string, NotedLines[]>> {
  const texts = await blobs.read([...noted.values()].map((path) => `${REF}:${path}`))
  const notes = new Map<string, NotedLines[]>()
  for (const [index, sha] of [...noted.keys()].entries()) {
    const lines = parseNote(texts[index] ?? '')
    if (lines.length > 0) notes.set(sha, lines)
  }
  return notes
}

/** Returns the lines that a note names; none where it is not readable. */
function parseNote(text: string): NotedLines[] {
  const [lines = '', json] = text.split(/^---$/m)
  const about = objectOf(parseJson(json ?? ''))
  if (!SCHEMA.test(textOf(about.schema_version) ?? '')) return []
  const noteLines: NotedLines[] = []
  let path = ''
  for (const line of lines.split('\n')) {
    if (!line.startsWith('  ')) {
      path = line.replace(/^"(.*)"$/, '$1')
      continue
    }
    const [id = '', numbers = ''] = line.trim().split(' ')
    const agent = authorOf(about, id.split('::')[0] ?? '')
    const ranges = parseRanges(numbers)
    if (agent !== null && ranges !== null) noteLines.push({ path, ...agent, ranges })
  }
  return noteLines
}

function authorOf({ sessions, prompts }: Json, id: string): Pick<NotedLines, 'agent' | 'session'> | null {
  const entry = [sessions, prompts].map((each) => objectOf(each)[id]).find(isObject)
  const { tool, id: session } = objectOf(entry?.agent_id)
  const name = textOf(tool)
  const key = textOf(session)
  return name === null || key === null ? null : { agent: AGENTS[name] ?? name, session: sessionIdOf(key) }
}
