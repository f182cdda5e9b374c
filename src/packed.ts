import { join, resolve } from 'node:path'

/** Inside the executable, or where `bun run pack` left it. */
const FOLDER = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'packed')
  : resolve(import.meta.dir, '../dist/assets/packed')

/** Where a file of `build/pack-files.ts` lies, gzipped. */
export const packedPath = (name: string): string => join(FOLDER, `${name}.gz`)
