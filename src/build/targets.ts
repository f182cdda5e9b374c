// The systems that the program is compiled for, those with a PostgreSQL to pack, and the one that this build runs on.

/** The systems for which there is a PostgreSQL to pack. */
const SERVER_TARGETS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'] as const
/** Every system the program is compiled for; on the others it serves only with DATABASE_URL. */
export const TARGETS = [...SERVER_TARGETS, 'linux-x64-musl', 'linux-arm64-musl', 'windows-x64'] as const

export type ServerTarget = (typeof SERVER_TARGETS)[number]
export type Target = (typeof TARGETS)[number]

export const hasPostgres = (target: Target): target is ServerTarget =>
  SERVER_TARGETS.some((name) => name === target)

/** The target of the machine this runs on. A Linux is taken for one with glibc: Bun's own build tells nothing else. */
export function hostTarget(): Target {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const target = TARGETS.find((name) => name === `${system}-${process.arch}`)
  if (target === undefined) throw new Error(`${system}-${process.arch} is not one of ${TARGETS.join(', ')}`)
  return target
}

/** Returns the ending of the target's executables. */
export const endingOf = (target: Target): string => (target === 'windows-x64' ? '.exe' : '')
