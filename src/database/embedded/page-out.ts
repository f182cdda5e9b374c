import { dlopen, FFIType } from 'bun:ffi'
import { readFileSync } from 'node:fs'

/** Linux knows it from 5.4 on; older kernels return an error, which is ignored. */
const MADV_PAGEOUT = 21
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s+(.*)$/

/**
 * Releases the memory of the executable's data pages; the kernel reads them from the file when they are
 * needed again. Reading the packed archives maps 18 MB of them: 30 s after a first start the program takes 75
 * MB (PSS) with this call, 92 MB without it. After later starts, which read no archive, it takes 73 MB.
 */
export function pageOutExecutable(): void {
  if (process.platform !== 'linux') return
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
