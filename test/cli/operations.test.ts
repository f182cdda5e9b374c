import { expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testsFolder } from '../support/at-end.ts'
import { run, serving } from '../support/cli.ts'
import { newDataFolder } from '../support/data-folder.ts'
import { testDatabase } from '../support/postgres.ts'

// docs/operations.md, followed: its commands are run in its order, in folders of the test, and its errors exist.

setDefaultTimeout(900_000)
const ROOT = join(import.meta.dir, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
const scratch = testsFolder()
mkdirSync(join(scratch.path, 'backups'))

/** The page's folders are at these places in the test. */
const FOLDERS = [
  ['/etc/cloud-analytics', scratch.path],
  ['/backups', join(scratch.path, 'backups')],
  ['/var/lib/cloud-analytics', join(scratch.path, 'restored')],
  ['/tmp/drill', join(scratch.path, 'drill')],
  ['acme.ndjson', join(scratch.path, 'acme.ndjson')],
  [/\bFILE\b/, join(scratch.path, 'backups/monday.zst')],
] as const

/** The command lines of the page in its order, each as environment and arguments. */
function commandsOf(page: string): { env: Record<string, string>; args: string[] }[] {
  return [
    ...page.matchAll(/^(?:sudo )?((?:[A-Z_]+=\S+ )*)cloud-analytics (.*)$|`cloud-analytics ([^`]+)`/gm),
  ].map(([, assignments = '', block, inline = '']) => {
    let line = `${assignments}|${(block ?? inline).replaceAll('\n', ' ').replace(/ +# .*/, '')}`
    for (const [name, folder] of FOLDERS) line = line.replace(name, folder)
    const [before = '', after = ''] = line.split('|')
    const pairs = before.split(' ').filter((word) => word !== '')
    return {
      env: Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string])),
      args: after.split(' '),
    }
  })
}

function putKey(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true })
  copyFileSync(join(scratch.path, 'data/secret.key'), join(dataDir, 'secret.key'))
}

test('its commands do what it says', async () => {
  const database = await testDatabase()
  await newDataFolder(join(scratch.path, 'data'))
  writeFileSync(join(scratch.path, 'database-url'), database.url)
  writeFileSync(join(scratch.path, 'environment'), 'LOG_LEVEL=warn\n')
  const ran: string[] = []
  for (const { env, args } of commandsOf(PAGE)) {
    const [command, ...rest] = args
    const target = rest.indexOf('--data-dir') + 1
    if (command === 'restore') {
      // the page says to move an older one away, and to put the key there
      rmSync(rest[target] ?? '', { recursive: true, force: true })
      putKey(rest[target] ?? '')
    }
    // needs root and systemd; `--print` shows what it would write
    if (command === 'service' && !rest.includes('--print')) continue
    const environment = { DATA_DIR: join(scratch.path, 'data'), ...env }
    if (command === 'serve') {
      const dataDir = rest[rest.indexOf('--data-dir') + 1] ?? environment.DATA_DIR
      const server = await serving('serve', { ...environment, DATA_DIR: dataDir })
      expect((await fetch(`${server.url}/ready`)).status).toBe(200)
      expect((await server.end()).code).toBe(0)
    } else {
      const [before = '', output] = args.join(' ').split(' > ')
      const { code, stdout, stderr } = await run(before.split(' '), environment)
      if (output !== undefined) {
        writeFileSync(output, stdout)
        // the next restore needs the folder without a database, and with the key
        rmSync(rest[target] ?? '', { recursive: true })
        putKey(rest[target] ?? '')
      }
      expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
    }
    ran.push(args.slice(0, 2).join(' ').split(' /')[0] ?? '')
  }
  for (const expected of [
    'org create',
    'key create',
    'service install',
    'backup',
    'serve',
    'backup verify',
    'restore',
    'doctor',
    'webhook new-secrets',
    '--database-url',
    '--env-file',
    'version',
  ])
    expect(ran.some((line) => line.startsWith(expected))).toBe(true)
  await database.drop()
})

test('its errors are those of the program', () => {
  const sources = [...new Bun.Glob('src/**/*.ts').scanSync(ROOT)]
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')
  const rows = PAGE.split('## What errors mean')[1]?.match(/^\| `.*$/gm) ?? []
  expect(rows.length).toBeGreaterThan(15)
  const unknown = rows.flatMap((row) => {
    const messages = [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
    // placeholders for names and numbers separate the words of the program
    const parts = messages.flatMap((text) => text.split(/…|\bFILE\b|\bDIR\b|\d+|libstdc\+\+\.so\.6|'s\b/))
    return parts
      .map((part) => part.replace(/^[\s(]+|[\s).]+$/g, ''))
      .filter((part) => !sources.includes(part))
  })
  // the runtime ends before the program starts
  expect(unknown.filter((text) => !['Bun has crashed', 'abort() called'].includes(text))).toEqual([])
})
