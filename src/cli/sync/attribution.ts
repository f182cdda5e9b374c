// Finds the commits that have lines of the sessions that a sync reads.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Attribution,
  createAttribution,
  memoryOfRun,
} from '../../analysis/agents/attribution/attribute.ts'
import { type ReadOptions, readSessions } from '../../analysis/agents/read-sessions.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { agentFolders } from '../client/agent-folders.ts'
import type { SyncState } from '../client/sync-state.ts'
import type { Context } from '../command/context.ts'
import { pricerOf } from '../command/sync-deps.ts'
import { createIncremental } from './incremental.ts'

/**
 * Finds the commits that have the lines of sessions. The lines of earlier runs are read from the disk when they are needed.
 * `state`: undefined in the local database and without sending; then only what this run reads counts.
 */
export function attributionOf(state: SyncState | undefined) {
  let attribution: Attribution | undefined
  const memory = state ?? memoryOfRun(() => Date.now())
  return {
    add: memory.written.add,
    attribute: async (history: Parameters<Attribution['attribute']>[0]) => {
      attribution ??= createAttribution(memory, () => Date.now())
      return await attribution.attribute(history)
    },
    accept: (record: SyncRecord) => {
      if (record.type === 'commit') attribution?.accept(record)
    },
    finish: () => attribution?.finish(),
  }
}

/**
 * Reads what sessions wrote from the agents' usual folders, except from `paths` and from files that an earlier run has read.
 * Sends nothing.
 */
export async function readUsualFolders(
  { env, config }: Context,
  paths: readonly string[],
  state: SyncState | undefined,
  onWritten: NonNullable<ReadOptions['onWritten']>,
): Promise<void> {
  const roots = new Set(paths.map((path) => resolve(path)))
  const folders = agentFolders(env).filter((folder) => existsSync(folder) && !roots.has(resolve(folder)))
  const incremental = createIncremental(state, 'written', {})
  const results = readSessions(folders, {
    pricer: await pricerOf(config)(),
    withoutRecords: true,
    onWritten,
    memory: incremental.memory,
    owners: state?.owners,
    isLeftOut: (sources) => sources.every(({ look }) => look?.change === 'same' && look.before?.done != null),
  })
  for await (const result of results) incremental.expect({ ...result, records: [] })
}
