// Builds the executable: `bun run build`, or `bun run build --target darwin-arm64` for another system. With `--client`
// it has no PostgreSQL, 20 MB less, and serves only with DATABASE_URL; so on systems for which there is none to pack.

import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Build, VERSION, versionOf } from '../base/version.ts'
import { ROOT } from './files.ts'
import { withoutSignature } from './mach-o.ts'
import { assetsFolder, pack } from './pack.ts'
import { PACKED_FOLDER, packFiles } from './pack-files.ts'
import { endingOf, hasPostgres, hostTarget, TARGETS, type Target } from './targets.ts'

/**
 * Largest headers and URL of a request together. The runtime refuses more with 431 and an empty body while they come:
 * a connection without a key holds no more. The limit is above the API's limit for URLs, so that most of the longer
 * ones get its error.
 */
export const MAX_HTTP_HEADER_BYTES = 32 * 1024

/** Compiles `src/main.ts` and the threads' entries, with the target's PostgreSQL unless `client`. `isRelease`: about to be tagged. */
export async function compile(target: Target, outfile: string, { client = false, isRelease = false } = {}) {
  const assets: string[] = []
  if (!client && hasPostgres(target)) {
    await pack(target)
    assets.push('--asset', assetsFolder(target))
  }
  await packFiles()
  // A running executable cannot be overwritten, only unlinked.
  rmSync(outfile, { force: true })
  const { exitCode } = Bun.spawnSync({
    cmd: [
      process.execPath,
      'build',
      '--compile',
      `--target=bun-${target}`,
      // Without `--minify-identifiers`: Elysia reads the source text of its handlers, and would skip
      // validation and hooks.
      '--minify-whitespace',
      '--minify-syntax',
      // Halves the time of a cold start. Needs esm: with cjs, import.meta.url would contain the paths of this
      // machine.
      '--bytecode',
      '--format=esm',
      // Code that both the program and a thread import is packed once, and what is imported dynamically is read when
      // it is needed.
      '--splitting',
      '--sourcemap',
      // The executable must not read .env and bunfig.toml of the working folder.
      '--no-compile-autoload-dotenv',
      '--no-compile-autoload-bunfig',
      '--define',
      `COMPILED_BUILD=${JSON.stringify({ ...sourcesOf(isRelease), target } satisfies Build)}`,
      `--compile-exec-argv=--max-http-header-size=${MAX_HTTP_HEADER_BYTES}`,
      ...assets,
      '--asset',
      PACKED_FOLDER,
      // Keeps the threads at server/deliveries/worker and server/intake/worker, the paths that main.ts names, as in the source.
      '--root',
      'src',
      'src/main.ts',
      'src/server/deliveries/worker.ts',
      'src/server/intake/worker.ts',
      '--outfile',
      outfile,
    ],
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) throw new Error('bun build failed')
  // the file is written in place, so that it stays executable
  if (target === 'darwin-x64') writeFileSync(outfile, withoutSignature(readFileSync(outfile)))
  // Pages that are not on disk yet cannot be released: a start right after the build would use 18 MB more
  // memory.
  const built = openSync(outfile, 'r')
  fsyncSync(built)
  closeSync(built)
  // The executable contains its source maps; the files are copies.
  for (const name of readdirSync(dirname(outfile)))
    if (name.endsWith('.map')) rmSync(join(dirname(outfile), name))
}

/** The commit, `-dirty` where files differ; of an image `REVISION`. The version names it unless it is released. */
function sourcesOf(isRelease: boolean): Pick<Build, 'version' | 'commit'> {
  const { REVISION } = process.env
  if (REVISION) return { version: versionOf(REVISION), commit: REVISION }
  const git = (...args: string[]) => {
    if (Bun.which('git') === null) return undefined
    const { success, stdout } = Bun.spawnSync(['git', ...args], { cwd: ROOT, stderr: 'ignore' })
    return success ? stdout.toString().trim() : undefined
  }
  const commit = git('rev-parse', 'HEAD')
  if (commit === undefined) return { version: VERSION, commit: null }
  const isDirty = git('status', '--porcelain', '--untracked-files=no') !== ''
  const built = isDirty ? `${commit}-dirty` : commit
  const isTagged = git('tag', '--points-at', 'HEAD')?.split('\n').includes(`v${VERSION}`)
  return { version: !isDirty && (isRelease || isTagged) ? VERSION : versionOf(built), commit: built }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { target: { type: 'string' }, client: { type: 'boolean', default: false } },
  })
  const requested = TARGETS.find((target) => target === values.target)
  if (values.target !== undefined && requested === undefined)
    throw new Error(`--target must be one of ${TARGETS.join(', ')}`)
  const target = requested ?? hostTarget()
  const name = ['cloud-analytics']
  if (values.client) name.push('client')
  if (target !== hostTarget()) name.push(target)
  await compile(target, join(ROOT, 'dist', `${name.join('-')}${endingOf(target)}`), {
    client: values.client,
  })
}
