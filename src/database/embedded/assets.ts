import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import { ASSETS } from '../../base/packed-path.ts'

/** `version` of the packed PostgreSQL, its `major` version, and a `key` that changes with the content. */
export interface Manifest {
  key: string
  version: string
  major: number
}

export interface Assets {
  manifest: Manifest
  program: () => Promise<Uint8Array>
  cluster: () => Promise<Uint8Array>
}

const TARGET = `${process.platform}-${process.arch}`
const FOLDER = join(ASSETS, TARGET)

/** Identifies the packed PostgreSQL; undefined for a build that has none. */
export function findManifest(): Manifest | undefined {
  const path = join(FOLDER, 'manifest.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) satisfies Manifest) : undefined
}

/** Finds the archives. Throws OperatorError for a build that has none. */
export function findAssets(): Assets {
  const manifest = findManifest()
  if (manifest === undefined) {
    const remedy = Bun.isStandaloneExecutable
      ? 'set it, or use the executable of a release for Linux with glibc or macOS'
      : 'set it, or run `bun run pack` first'
    throw new OperatorError(
      `this build has no PostgreSQL (${TARGET}) and uses a database only with DATABASE_URL: ${remedy}`,
    )
  }
  const unpacked = (file: string) => Bun.zstdDecompress(readFileSync(join(FOLDER, file)))
  return {
    manifest,
    program: () => unpacked('postgres.tar.zst'),
    cluster: () => unpacked('cluster.tar.zst'),
  }
}
