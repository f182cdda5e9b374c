// The command `hook run`, which Claude Code calls when a session has ended: sends it.

import { existsSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseJson, valueAt } from '../../analysis/agents/transcript/json.ts'
import { claudeFolder, type Environment } from '../client/folders.ts'
import type { Context } from '../command/context.ts'
import { startSelf } from '../command/run-self.ts'
import { recordPath, SYNC_RECORD } from './install.ts'

/** All transcripts are looked at after this time, for sessions that could not be sent when they ended. */
const LOOK_MS = 86_400_000

/**
 * `hook run`: what Claude Code runs when a session has ended, with a JSON object on standard input that names its
 * transcript. Claude Code waits for it and ends what it started: the sync runs in a process of its own session.
 */
export async function runHook({ env }: Context): Promise<void> {
  const transcript = transcriptIn(await Bun.stdin.text())
  const paths =
    transcript === undefined || isLookDue(env) ? [projectsOf(env, transcript)] : existingFiles(transcript)
  startSelf(['sync', '--quiet', ...paths], env)
}

function transcriptIn(input: string): string | undefined {
  const path = valueAt(parseJson(input), 'transcript_path')
  return typeof path === 'string' && path.endsWith('.jsonl') && existsSync(path) ? path : undefined
}

/** A session's transcript, and the folder of its sub-agents where it has one. */
const existingFiles = (transcript: string): string[] =>
  [transcript, transcript.slice(0, -'.jsonl'.length)].filter((path) => existsSync(path))

/** The transcripts of all projects are below this folder: each project has a folder. */
const projectsOf = (env: Environment, transcript: string | undefined): string =>
  transcript === undefined ? join(claudeFolder(env), 'projects') : dirname(dirname(transcript))

/** Whether all transcripts were last looked at a day ago; notes that they are looked at now, as the time of the record's file. */
function isLookDue(env: Environment): boolean {
  const path = recordPath(env, SYNC_RECORD)
  const lastMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  const nowMs = Date.now()
  if (lastMs === undefined) return true
  if (nowMs - lastMs < LOOK_MS) return false
  utimesSync(path, new Date(nowMs), new Date(nowMs))
  return true
}
