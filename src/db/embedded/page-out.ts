import { dlopen, FFIType } from 'bun:ffi'
import { readFileSync } from 'node:fs'

/** Linux 5.4: gives the pages of a range back; they are read again from their file when needed. */
const MADV_PAGEOUT = 21
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s+(.*)$/

/**
 * Gives back the memory of the packed archives, which are pages of the executable: 18 MB after a first start. Where the
 * kernel does not know how, they stay.
 */
export function pageOutExecutable(): void {
  const { symbols: libc, close } = dlopen('libc.so.6', {
    madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  })
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const [, from, to, permissions = '', file] = MAPPING.exec(line) ?? []
    if (from === undefined || file !== process.execPath || permissions.includes('x')) continue
    libc.madvise(BigInt(`0x${from}`), BigInt(`0x${to}`) - BigInt(`0x${from}`), MADV_PAGEOUT)
  }
  close()
}
