import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { OperatorError } from '../../errors.ts'

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

/** Finds the archives: inside the executable, or where `bun run pack` writes them. */
export function findAssets(): Assets {
  const target = `${process.platform}-${process.arch}`
  const folder = Bun.isStandaloneExecutable
    ? join(import.meta.dir, target)
    : resolve(import.meta.dir, '../../../dist/assets', target)
  const manifestPath = join(folder, 'manifest.json')
  if (!existsSync(manifestPath)) {
    const remedy = Bun.isStandaloneExecutable
      ? 'set it, or use the executable of a release for Linux with glibc or macOS'
      : 'set it, or run `bun run pack` first'
    throw new OperatorError(
      `this build has no PostgreSQL (${target}) and uses a database only with DATABASE_URL: ${remedy}`,
    )
  }
  const unpacked = (file: string) => Bun.zstdDecompress(readFileSync(join(folder, file)))
  return {
    manifest: JSON.parse(readFileSync(manifestPath, 'utf8')) satisfies Manifest,
    program: () => unpacked('postgres.tar.zst'),
    cluster: () => unpacked('cluster.tar.zst'),
  }
}
