// Reads and changes macOS binaries where `lipo` and `otool` are missing: pack.ts takes one processor's part and lists
// libraries, compile.ts removes a signature that no longer holds. Formats: <mach-o/fat.h> and <mach-o/loader.h> of Apple's SDK.

const FAT_MAGIC = 0xcafebabe
const MAGIC_64 = 0xfeedfacf
/** Size of `struct fat_arch`: cputype, cpusubtype, offset, size, align. */
const FAT_ARCH_BYTES = 20
const HEADER_BYTES = 32
const LOAD_DYLIB = new Set([0x0c, 0x18, 0x1f])
const LC_REQ_DYLD = 0x80000000
const LC_CODE_SIGNATURE = 0x1d

export const CPU_TYPES = { x64: 0x01000007, arm64: 0x0100000c } as const

/** The part of a universal binary that is for the processor, with its signature; another binary as it is. */
export function thin(file: Buffer, cpu: keyof typeof CPU_TYPES): Buffer {
  if (file.length < 8 || file.readUInt32BE(0) !== FAT_MAGIC) return file
  for (let index = 0; index < file.readUInt32BE(4); index++) {
    const at = 8 + index * FAT_ARCH_BYTES
    if (file.readUInt32BE(at) !== CPU_TYPES[cpu]) continue
    const offset = file.readUInt32BE(at + 8)
    return file.subarray(offset, offset + file.readUInt32BE(at + 12))
  }
  throw new Error(`the binary has no part for ${cpu}`)
}

/** The paths of the libraries that a binary for one processor loads, as they are written in it. */
export function linkedLibraries(binary: Buffer): string[] {
  if (binary.readUInt32LE(0) !== MAGIC_64) throw new Error('not a 64-bit binary of macOS')
  const paths: string[] = []
  let at = HEADER_BYTES
  for (let left = binary.readUInt32LE(16); left > 0; left--) {
    const command = binary.readUInt32LE(at) % LC_REQ_DYLD
    const size = binary.readUInt32LE(at + 4)
    if (LOAD_DYLIB.has(command)) {
      const name = at + binary.readUInt32LE(at + 8)
      paths.push(binary.toString('utf8', name, binary.indexOf(0, name)))
    }
    at += size
  }
  return paths
}

/**
 * The binary without the load command of its signature. Bun changes its program for Intel and leaves the signature as it
 * was; macOS kills a program that differs from its signature, and runs one without (on Intel and by Rosetta only).
 */
export function withoutSignature(binary: Buffer): Buffer {
  const copy = Buffer.from(binary)
  const commands = copy.readUInt32LE(16)
  const end = HEADER_BYTES + copy.readUInt32LE(20)
  for (let at = HEADER_BYTES; at < end; at += copy.readUInt32LE(at + 4)) {
    if (copy.readUInt32LE(at) !== LC_CODE_SIGNATURE) continue
    const size = copy.readUInt32LE(at + 4)
    copy.copyWithin(at, at + size, end)
    copy.fill(0, end - size, end)
    copy.writeUInt32LE(commands - 1, 16)
    copy.writeUInt32LE(end - size - HEADER_BYTES, 20)
    return copy
  }
  return copy
}
