import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Runs the Windows program by wine, as Windows 10.

const MISSING = 'bcryptprimitives.dll'
const NAME = 'ProcessPrng'
/** The same function, under the name that all versions of wine have it by. */
const FORWARDED = 'advapi32.SystemFunction036'

/** Tells whether this machine has wine to run it with. */
export const hasWine = (): boolean => process.platform === 'linux' && Bun.which('wine') !== null

export interface Wine {
  /** The home folder of its user, as this machine sees it. */
  home: string
  start(words: readonly string[], stdin?: string): Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  /** Ends all its processes. */
  end(): Promise<void>
}

/** Makes a Windows in the folder, in which `program` is started. */
export async function makeWine(folder: string, program: string): Promise<Wine> {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    WINEPREFIX: join(folder, 'wine'),
    WINEARCH: 'win64',
    WINEDEBUG: '-all',
  }
  const run = async (...cmd: string[]) =>
    await Bun.spawn({ cmd, env, stdio: ['ignore', 'ignore', 'ignore'] }).exited
  await run('wine', 'wineboot', '-i')
  await run('wine', 'winecfg', '-v', 'win10')
  const system = join(env.WINEPREFIX, 'drive_c/windows/system32')
  // wine 8 does not have it
  if (!existsSync(join(system, MISSING))) writeFileSync(join(system, MISSING), forwardingLibrary())
  const user = (await Bun.$`wine cmd /c echo %USERPROFILE%`.env(env).quiet().text()).trim()
  return {
    home: join(env.WINEPREFIX, 'drive_c', ...user.split('\\').slice(1)),
    start(words, stdin) {
      const cmd = ['wine', program, ...words]
      // a pipe of the shell: wine does not know the sockets that Bun gives
      const piped = ['sh', '-c', 'printf %s "$0" | "$@"', stdin ?? '', ...cmd]
      return Bun.spawn({
        cmd: stdin === undefined ? cmd : piped,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    },
    async end() {
      await run('wineserver', '-k')
      await run('wineserver', '-w')
    },
  }
}

/** A library for x64 without code: its one function is another library's. */
function forwardingLibrary(): Uint8Array {
  const bytes = Buffer.alloc(0x400)
  const u16 = (at: number, ...values: number[]) =>
    values.forEach((value, index) => {
      bytes.writeUInt16LE(value, at + 2 * index)
    })
  const u32 = (at: number, ...values: number[]) =>
    values.forEach((value, index) => {
      bytes.writeUInt32LE(value, at + 4 * index)
    })
  bytes.write('MZ')
  u32(0x3c, 0x40)
  bytes.write('PE', 0x40)
  // x64, a section, the size of the next header, a library
  u16(0x44, 0x8664, 1)
  u16(0x54, 240, 0x2022)
  u16(0x58, 0x20b)
  // address, alignments, versions of the system, sizes of the image and of the headers, a console program's subsystem
  bytes.writeBigUInt64LE(0x3_a000_0000n, 0x70)
  u32(0x78, 0x1000, 0x200)
  u16(0x80, 6, 0, 0, 0, 6, 0)
  u32(0x90, 0x2000, 0x200)
  u16(0x9c, 3, 0x100)
  // 16 directories; the first is that of the exports
  u32(0xc4, 16, 0x1000, 0x200)
  bytes.write('.rdata', 0x148)
  u32(0x150, 0x200, 0x1000, 0x200, 0x200)
  u32(0x16c, 0x40000040)
  // a function with a name: the tables, then the texts
  u32(0x20c, 0x1060, 1, 1, 1, 0x1040, 0x1044, 0x1048)
  u32(0x240, 0x10a0, 0x1080)
  bytes.write(MISSING, 0x260)
  bytes.write(NAME, 0x280)
  bytes.write(FORWARDED, 0x2a0)
  return bytes
}
