import { expect, test } from 'bun:test'
import { CPU_TYPES, linkedLibraries, thin, withoutSignature } from '../../src/build/mach-o.ts'

// Headers as in Apple's <mach-o/fat.h> and <mach-o/loader.h>, with the commands that the packing reads.

function command(number: number, path = ''): Buffer {
  const size = path === '' ? 16 : Math.ceil((24 + path.length + 1) / 8) * 8
  const bytes = Buffer.alloc(size)
  bytes.writeUInt32LE(number, 0)
  bytes.writeUInt32LE(size, 4)
  if (path !== '') {
    bytes.writeUInt32LE(24, 8)
    bytes.write(path, 24)
  }
  return bytes
}

function machO(cpu: 'x64' | 'arm64', commands: Buffer[], content: string): Buffer {
  const header = Buffer.alloc(32)
  header.writeUInt32LE(0xfeedfacf, 0)
  header.writeUInt32LE(CPU_TYPES[cpu], 4)
  header.writeUInt32LE(commands.length, 16)
  header.writeUInt32LE(Buffer.concat(commands).length, 20)
  return Buffer.concat([header, ...commands, Buffer.from(content)])
}

function universal(parts: { cpu: 'x64' | 'arm64'; binary: Buffer }[]): Buffer {
  const header = Buffer.alloc(4096)
  header.writeUInt32BE(0xcafebabe, 0)
  header.writeUInt32BE(parts.length, 4)
  let offset = header.length
  for (const [index, { cpu, binary }] of parts.entries()) {
    header.writeUInt32BE(CPU_TYPES[cpu], 8 + index * 20)
    header.writeUInt32BE(offset, 8 + index * 20 + 8)
    header.writeUInt32BE(binary.length, 8 + index * 20 + 12)
    offset += binary.length
  }
  return Buffer.concat([header, ...parts.map((part) => part.binary)])
}

const SIGNATURE = 0x1d
const intel = machO('x64', [command(0x0c, '@loader_path/../lib/libz.1.dylib'), command(SIGNATURE)], 'intel')
const arm = machO(
  'arm64',
  [
    command(0x0d, '/own/name.dylib'),
    command(0x80000018, '/weak.dylib'),
    command(0x8000001f, '/re-exported.dylib'),
  ],
  'arm',
)
const both = universal([
  { cpu: 'x64', binary: intel },
  { cpu: 'arm64', binary: arm },
])

test('the part for a processor is taken from a universal binary', () => {
  expect(thin(both, 'x64')).toEqual(intel)
  expect(thin(both, 'arm64')).toEqual(arm)
  expect(thin(arm, 'x64')).toEqual(arm)
  expect(() => thin(universal([{ cpu: 'x64', binary: intel }]), 'arm64')).toThrow('no part for arm64')
})

test('the libraries that a binary loads, not its own name', () => {
  expect(linkedLibraries(intel)).toEqual(['@loader_path/../lib/libz.1.dylib'])
  expect(linkedLibraries(arm)).toEqual(['/weak.dylib', '/re-exported.dylib'])
  expect(() => linkedLibraries(both)).toThrow('not a 64-bit binary')
})

test('a signature is removed and nothing moves behind the commands', () => {
  const library = command(0x0c, '/kept.dylib')
  const signed = machO('x64', [command(SIGNATURE), library], 'content')
  const unsigned = withoutSignature(signed)
  expect(unsigned).toEqual(
    Buffer.concat([machO('x64', [library], ''), Buffer.alloc(16), Buffer.from('content')]),
  )
  expect(withoutSignature(unsigned)).toEqual(unsigned)
})
