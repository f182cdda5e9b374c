import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { OperatorError } from '../../base/errors.ts'

/** `version` of the packed PostgreSQL, its `major` version, and a `key` that changes with the content. */
export interface Manifest {
  key: string
  version: string
  major: number
}

/** The packed program and template cluster. */
export interface Assets {
  manifest: Manifest
  program: () => Promise<Uint8Array>
  cluster: () => Promise<Uint8Array>
}

/** Identifies the packed PostgreSQL; undefined for a build that has none. */
export function findManifest(): Manifest | undefined {
  const path = join(assetsFolder(), 'manifest.json')
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
  const unpacked = (file: string) => Bun.zstdDecompress(readFileSync(join(assetsFolder(), file)))
  return {
    manifest,
    program: () => unpacked('postgres.tar.zst'),
    cluster: () => unpacked('cluster.tar.zst'),
  }
}

const TARGET = `${process.platform}-${process.arch}`

/** Inside the executable, or where `bun run pack` writes them. */
const assetsFolder = (): string =>
  Bun.isStandaloneExecutable
    ? join(import.meta.dir, TARGET)
    : resolve(import.meta.dir, '../../../dist/assets', TARGET)
