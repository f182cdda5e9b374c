// Builds the one executable: `bun run build`, or `bun run build --target linux-arm64` for the other machine.

import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { assetsFolder, hostTarget, pack, TARGETS, type Target } from './pack.ts'
import { PACKED_FOLDER, packFiles } from './pack-files.ts'

const ROOT = resolve(import.meta.dir, '../..')
/**
 * Far above any limit of ours: a URL or header that is too long must reach our own error answer. At the default of
 * 16 KiB the server library answers 431 itself, with an empty body.
 */
export const MAX_HTTP_HEADER_BYTES = 2 * 1024 * 1024

/** Compiles `src/main.ts` and the worker thread's entry to `outfile`, with the PostgreSQL of `target` inside. */
export async function compile(target: Target, outfile: string): Promise<void> {
  await pack(target)
  packFiles()
  // A running executable cannot be overwritten, only unlinked.
  rmSync(outfile, { force: true })
  const { exitCode } = Bun.spawnSync({
    cmd: [
      process.execPath,
      'build',
      '--compile',
      `--target=bun-${target}`,
      // Never identifiers: Elysia reads its handlers' source text, and validation and hooks would fall silent.
      '--minify-whitespace',
      '--minify-syntax',
      // Halves the cold start. Needs esm: as cjs it would bake this machine's paths into import.meta.url.
      '--bytecode',
      '--format=esm',
      '--sourcemap',
      // What lies in the folder it is started from is not its configuration.
      '--no-compile-autoload-dotenv',
      '--no-compile-autoload-bunfig',
      `--compile-exec-argv=--max-http-header-size=${MAX_HTTP_HEADER_BYTES}`,
      '--asset',
      assetsFolder(target),
      '--asset',
      PACKED_FOLDER,
      // The worker then lies at worker/worker, where main's URL for it points, in source as in the executable.
      '--root',
      'src',
      'src/main.ts',
      'src/worker/worker.ts',
      '--outfile',
      outfile,
    ],
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) throw new Error('bun build failed')
  // Pages that are not on disk yet cannot be given back: right after a build a first start would keep 18 MB more.
  const built = openSync(outfile, 'r')
  fsyncSync(built)
  closeSync(built)
  // The executable holds its source maps; these copies of them nobody reads.
  for (const name of readdirSync(dirname(outfile))) {
    if (name.endsWith('.map')) rmSync(join(dirname(outfile), name))
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { target: { type: 'string' } } })
  const asked = TARGETS.find((target) => target === values.target)
  if (values.target !== undefined && asked === undefined)
    throw new Error(`--target must be ${TARGETS.join(' or ')}`)
  const target = asked ?? hostTarget()
  const name = target === hostTarget() ? 'cloud-analytics' : `cloud-analytics-${target}`
  await compile(target, join(ROOT, 'dist', name))
}
