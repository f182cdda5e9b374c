// Takes over what version 0.2 kept, three files for each server and organization: they are read once, and removed.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isStoredAction } from '../../analysis/agents/attribution/written-store.ts'
import { isObject, type Json, parseJson } from '../../analysis/agents/transcript/json.ts'
import { lineHash } from '../../analysis/agents/transcript/line-owners.ts'
import { readJsonFile } from '../../base/json-file.ts'
import { KINDS, type Run, type StateDatabase } from './state-database.ts'

const STATE = /^sync-([0-9a-f]{32})\.json$/
/** An entry of the lines: the hash of a line in 8 bytes, of its session in 4. */
const LINE_BYTES = 12

type FormerState = Record<string, Json> & { server: string; organization: { id: string; slug: string } }

/** The ids in the names of the files. */
export const formerIds = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).flatMap((name) => STATE.exec(name)?.[1] ?? []) : []

/** Moves the files into the database, which has newer values where it has any. A damaged file is none. */
export function takeFormerStates(folder: string, { write }: StateDatabase): void {
  for (const id of formerIds(folder)) {
    const paths = ['sync-*.json', 'lines-*.bin', 'written-*.ndjson'].map((name) =>
      join(folder, name.replace('*', id)),
    )
    write((run) => insertState(run, ...paths))
    for (const path of paths) rmSync(path, { force: true })
  }
}

function insertState(run: Run, path = '', linesPath = '', writtenPath = ''): void {
  const state = readJsonFile(path)
  if (!isState(state)) return
  const { server, organization } = state
  run(
    'insert or ignore into targets (server, organization, slug) values (?, ?, ?)',
    ...[server, organization.id, organization.slug],
  )
  const [[target] = []] = run(
    'select id from targets where server = ? and organization = ?',
    ...[server, organization.id],
  )
  const insert = (kind: string, key: string, value: unknown) =>
    run(`insert or ignore into ${kind} values (?, ?, ?)`, Number(target), key, JSON.stringify(value))
  for (const kind of KINDS)
    for (const [key, value] of Object.entries(state[kind] ?? {})) insert(kind, key, value)
  for (const line of existsSync(writtenPath) ? readFileSync(writtenPath, 'utf8').split('\n') : []) {
    const action = parseJson(line)
    if (isStoredAction(action)) insert('written', action.id, action)
  }
  const lines = existsSync(linesPath) ? readFileSync(linesPath) : Buffer.alloc(0)
  for (let at = 0; at + LINE_BYTES <= lines.length; at += LINE_BYTES)
    run(
      'insert or ignore into lines values (?, ?, ?, 0)',
      ...[Number(target), lineHash(lines.readBigUInt64LE(at)), lines.readUInt32LE(at + 8)],
    )
}

const isState = (value: unknown): value is FormerState =>
  isObject(value) &&
  value.version === 1 &&
  typeof value.server === 'string' &&
  isObject(value.organization) &&
  typeof value.organization.id === 'string' &&
  typeof value.organization.slug === 'string'
