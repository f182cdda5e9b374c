// Makes the npm packages of a release: one with the executable for each target, and `cloud-analytics`, which has
// them as optional dependencies, so that npm installs the one for its system, and starts it.

import { chmodSync, copyFileSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, readPackage } from './files.ts'
import { endingOf, TARGETS, type Target } from './targets.ts'

const LAUNCHER = 'npm-launcher.js'
/** npm's names of the systems. */
const OS = { linux: 'linux', darwin: 'darwin', windows: 'win32' } as const

const packageOf = (target: Target): string => `cloud-analytics-${target}`

const common = (version: string) => ({
  version,
  license: readPackage().license,
  description: 'Analytics of AI coding sessions: quality, cost and security, in one executable.',
})

/** The package.json of the package with the target's executable. */
function platformPackage(version: string, target: Target): object {
  const [system = '', cpu = '', libc] = target.split('-')
  return {
    name: packageOf(target),
    ...common(version),
    os: [OS[system as keyof typeof OS]],
    cpu: system === 'windows' ? ['x64', 'arm64'] : [cpu],
    ...(system === 'linux' ? { libc: [libc ?? 'glibc'] } : {}),
    // preferred to a zip archive by Yarn, which could not execute a file inside
    preferUnplugged: true,
  }
}

/** The package.json of the package that users install. */
export function launcherPackage(version: string): object {
  return {
    name: 'cloud-analytics',
    ...common(version),
    bin: { 'cloud-analytics': LAUNCHER },
    engines: { node: '>=18' },
    optionalDependencies: Object.fromEntries(TARGETS.map((target) => [packageOf(target), version])),
  }
}

/** Packs the target's executable into `folder`; returns the path of the archive. */
export async function packPlatform(
  folder: string,
  version: string,
  target: Target,
  executable: string,
): Promise<string> {
  return await pack(folder, platformPackage(version, target), {
    [`cloud-analytics${endingOf(target)}`]: executable,
    THIRD_PARTY_NOTICES: join(ROOT, 'THIRD_PARTY_NOTICES'),
  })
}

/** Packs the launcher into `folder`; returns the path of the archive. */
export async function packLauncher(folder: string, version: string): Promise<string> {
  return await pack(folder, launcherPackage(version), {
    [LAUNCHER]: join(import.meta.dir, LAUNCHER),
    'README.md': join(ROOT, 'docs/client.md'),
  })
}

async function pack(folder: string, manifest: object, files: Record<string, string>): Promise<string> {
  const { name, version } = manifest as { name: string; version: string }
  using scratch = mkdtempDisposableSync(join(tmpdir(), 'cloud-analytics-npm-'))
  const at = (path: string) => join(scratch.path, path)
  writeFileSync(at('package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(ROOT, 'LICENSE'), at('LICENSE'))
  for (const [path, file] of Object.entries(files)) {
    copyFileSync(file, at(path))
    if (path.startsWith('cloud-analytics')) chmodSync(at(path), 0o755)
  }
  mkdirSync(folder, { recursive: true })
  await Bun.$`${process.execPath} pm pack --destination ${folder} --quiet`.cwd(scratch.path).quiet()
  return join(folder, `${name}-${version}.tgz`)
}
