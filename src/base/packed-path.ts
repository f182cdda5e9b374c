import { join, resolve } from 'node:path'

/** The folder of what is packed: inside the executable, or where `bun run pack` writes it. */
export const ASSETS = Bun.isStandaloneExecutable
  ? import.meta.dir
  : resolve(import.meta.dir, '../../dist/assets')

/** The path of a file packed by `build/pack-files.ts`, gzipped. */
export const packedPath = (name: string): string => join(ASSETS, 'packed', `${name}.gz`)
