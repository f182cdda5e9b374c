import { readFileSync } from 'node:fs'
import { OperatorError } from '../../base/errors.ts'

/** A soft limit of this process, as `Max open files`; undefined where it is unlimited or the system does not say. */
export function limitOf(name: string): number | undefined {
  try {
    const lines = readFileSync('/proc/self/limits', 'utf8').split('\n')
    const [, limit] =
      /^ +(\d+)/.exec(lines.find((line) => line.startsWith(name))?.slice(name.length) ?? '') ?? []
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

const GIB = 2 ** 30
/** The runtime reserves some 2.2 GiB for each of its processes, where it can, and hardly uses it. */
const MIN_ADDRESS_SPACE = 2.25 * GIB
const GOOD_ADDRESS_SPACE = 4 * GIB

/** Left after its start, below which the runtime may wait for a thread that cannot begin. */
const MIN_LEFT = 64 * 2 ** 20

/** Throws OperatorError where the address space is too small for a database, or without one for the program to run. */
export function refuseSmallAddressSpace(hasDatabase: boolean): void {
  const limit = addressSpace()
  if (limit === Number.POSITIVE_INFINITY) return
  const [, used] = /^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  const isSmall = limit - Number(used ?? 0) * 1024 < MIN_LEFT
  if (isSmall || (hasDatabase && limit < MIN_ADDRESS_SPACE)) throw tooSmall(limit)
}

/** The error where the limit may be why something failed with this message; undefined where it cannot be. */
export function addressSpaceError(message: string): OperatorError | undefined {
  const limit = addressSpace()
  return limit < GOOD_ADDRESS_SPACE ? tooSmall(limit, ` (${message})`) : undefined
}

const addressSpace = (): number => limitOf('Max address space') ?? Number.POSITIVE_INFINITY

const tooSmall = (limit: number, why = ''): OperatorError =>
  new OperatorError(
    `the limit of the address space is too small, ${(limit / GIB).toFixed(1)} GiB: raise it to ${GOOD_ADDRESS_SPACE / GIB} GiB or ` +
      `unlimited (ulimit -v, LimitAS=) and start again${why}`,
  )
