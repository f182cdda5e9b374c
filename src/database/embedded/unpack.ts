// Unpacks PostgreSQL and an empty cluster from the executable, and removes what other builds and interrupted starts left.

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '../disk.ts'
import type { Assets } from './assets.ts'

const TEMPORARY = '.unpacking'
const SYNCED_AT_ONCE = 32

interface UnpackOptions {
  /** Whether the files are flushed to disk; false for databases that are thrown away. */
  durable: boolean
}

/** The folder of this build's PostgreSQL program below `home`. */
export const postgresFolder = ({ manifest: { version, key } }: Assets, home: string): string =>
  join(home, `pg-${version}-${key}`)

/** Unpacks the program to `folder`, which must not exist. */
export async function unpackProgram(assets: Assets, folder: string, options: UnpackOptions): Promise<void> {
  await unpack(await assets.program(), folder, options, (temporary) => {
    // whatever the umask: the server may run as another user than this process
    for (const name of ['', ...readdirSync(temporary, { recursive: true, encoding: 'utf8' })])
      chmodSync(join(temporary, name), 0o755)
  })
}

/** Unpacks a new cluster to `folder`, which must not exist; `prepare` is called before it gets its name. */
export async function unpackCluster(
  assets: Assets,
  folder: string,
  options: UnpackOptions,
  prepare: (temporary: string) => void,
): Promise<void> {
  await unpack(await assets.cluster(), folder, options, (temporary) => {
    chmodSync(temporary, 0o700)
    prepare(temporary)
  })
}

/** Unpacks to a temporary folder and renames that, so that `folder` is either complete or missing. */
async function unpack(
  archive: Uint8Array,
  folder: string,
  { durable }: UnpackOptions,
  prepare: (temporary: string) => void,
): Promise<void> {
  const temporary = `${folder}-${process.pid}${TEMPORARY}`
  try {
    await extract(archive, temporary)
    prepare(temporary)
    if (durable) await syncTree(temporary)
    moveUnlessThere(temporary, folder)
    if (durable) await syncPath(dirname(folder))
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

async function extract(archive: Uint8Array, folder: string): Promise<void> {
  mkdirSync(folder, { mode: 0o700 })
  await new Bun.Archive(archive).extract(folder).catch((error: unknown) => {
    // its errors have no code; a full disk, the most common cause, can be detected
    const { bavail, bsize } = statfsSync(folder)
    throw bavail * bsize < archive.length ? Object.assign(new Error('no space'), { code: 'ENOSPC' }) : error
  })
}

/** Moves the program unless another process has unpacked it in a home that data directories share. */
function moveUnlessThere(temporary: string, folder: string): void {
  try {
    renameSync(temporary, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  }
}

/** 32 files at a time, so that the file system can flush them together. */
async function syncTree(folder: string): Promise<void> {
  const names = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]
  for (let start = 0; start < names.length; start += SYNCED_AT_ONCE) {
    const batch = names.slice(start, start + SYNCED_AT_ONCE)
    await Promise.all(batch.map((name) => syncPath(join(folder, name))))
  }
}

/** Deletes the temporary folders of an interrupted start. */
export function removeLeftovers(dataDir: string): void {
  removeMatching(dataDir, (name) => name.endsWith(TEMPORARY))
}

/** Deletes the programs of other builds; called after this build's has started. */
export function removeOtherPrograms(dataDir: string, program: string): void {
  removeMatching(dataDir, (name) => name.startsWith('pg-') && join(dataDir, name) !== program)
}

function removeMatching(dataDir: string, matches: (name: string) => boolean): void {
  for (const name of readdirSync(dataDir))
    if (matches(name)) rmSync(join(dataDir, name), { recursive: true, force: true })
}
