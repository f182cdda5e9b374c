import { join, resolve } from 'node:path'

/** Inside the executable, or where `bun run pack` writes it. */
const FOLDER = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'packed')
  : resolve(import.meta.dir, '../../dist/assets/packed')

/** The path of a file packed by `build/pack-files.ts`, gzipped. */
export const packedPath = (name: string): string => join(FOLDER, `${name}.gz`)
