import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../src/build/compile.ts'
import { scratchFolder } from '../support/at-end.ts'
import { eventually, readUntil, runJson, type Serving, serving } from '../support/cli.ts'
import { hasWine, makeWine, type Wine } from './wine.ts'

// The commands of a client in the Windows program, run by wine; skipped where there is none.

setDefaultTimeout(720_000)

describe.skipIf(!hasWine())('the Windows program', () => {
  const folder = scratchFolder()
  const env = { DATA_DIR: join(folder.path, 'data') }
  let server: Serving
  let key: string
  let wine: Wine
  let projects: string

  beforeAll(async () => {
    const program = join(folder.path, 'cloud-analytics.exe')
    await compile('windows-x64', program)
    wine = await makeWine(folder.path, program)
    projects = join(wine.home, '.claude', 'projects', 'shop')
    mkdirSync(projects, { recursive: true })
    server = await serving('serve', env)
    await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'], env)
    const create = ['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,write']
    ;({ key } = await runJson(create, env))
  })
  afterAll(async () => {
    await wine.end()
    await server.end()
    folder.remove()
  })

  const windows = async (words: string[], stdin?: string) => {
    const child = wine.start([...words, '--json'], stdin)
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code !== 0) throw new Error(`${words.join(' ')}: exit code ${code}: ${stderr}`)
    return stdout === '' ? undefined : JSON.parse(stdout)
  }

  function writeSession(id: string): void {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id, role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage }
    const timestamp = '2026-11-20T10:00:00.000Z'
    const line = { type: 'assistant', uuid: id, sessionId: id, cwd: 'C:\\shop', timestamp, message }
    writeFileSync(join(projects, `${id}.jsonl`), `${JSON.stringify(line)}\n`)
  }
  const stored = async () => {
    const response = await fetch(`${server.url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await response.json()) as { data: { id: string }[] }
    return data.map(({ id }) => id)
  }

  test('signs in, syncs, syncs again, and says so', async () => {
    expect(await windows(['login', '--server', server.url], `${key}\r\n`)).toMatchObject({
      server: server.url,
    })
    writeSession('win-one')
    expect(await windows(['sync', '--yes'])).toMatchObject({ created: 1, unchanged_files: 0 })
    expect(await windows(['sync', '--yes'])).toMatchObject({ unchanged: 1, unchanged_files: 1 })
    expect(await windows(['status'])).toMatchObject({ unsent_files: 0, watch: { running: false } })
    expect(await stored()).toEqual(['sess_win-one'])
  })

  test('has a hook that no shell reads, in settings with a byte order mark', async () => {
    const settings = join(wine.home, '.claude', 'settings.json')
    const before = '\ufeff{\r\n  "model": "opus"\r\n}\r\n'
    writeFileSync(settings, before)
    const { command, args } = await windows(['hook', 'install', 'claude-code', '--yes'])
    expect(command).toMatch(/\\cloud-analytics\.exe$/)
    writeSession('win-two')
    const transcript_path = `C:${join(projects, 'win-two.jsonl').split('drive_c')[1]}`.replaceAll('/', '\\')
    expect(await windows(args, JSON.stringify({ transcript_path }))).toBeUndefined()
    await eventually(stored, (ids) => ids.includes('sess_win-two'))
    await windows(['hook', 'uninstall', 'claude-code'])
    expect(readFileSync(settings, 'utf8')).toBe(before)
  })

  test('watches, and has the file of a service', async () => {
    writeSession('win-three')
    const child = wine.start(['watch', '--json'])
    const { paths } = JSON.parse(await readUntil(child.stdout, '\n'))
    expect(paths[0]).toEndWith('\\.claude\\projects')
    await eventually(stored, (ids) => ids.includes('sess_win-three'))
    expect(await windows(['status'])).toMatchObject({ watch: { running: true } })
    child.kill('SIGKILL')
    await child.exited
    const { text } = await windows(['service', 'install', '--print'])
    expect(text).toContain('cloud-analytics.exe watch</Arguments>')
  })

  test('ends without a word when its reader has gone', async () => {
    for (let nth = 0; nth < 50; nth++) writeSession(`win-many-${nth}`)
    const child = wine.start(['sync', '--dry-run'])
    await readUntil(child.stdout, '{"type":')
    await child.stdout.cancel()
    expect(await child.exited).toBe(0)
    expect(await child.stderr.text()).not.toContain('EPIPE')
  })

  test('forgets the server with the login', async () => {
    await windows(['logout'])
    expect(existsSync(join(wine.home, 'AppData', 'Local', 'cloud-analytics'))).toBe(false)
  })
})
