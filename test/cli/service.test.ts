import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeKey } from '../../src/accounts/keys/format.ts'
import { launchAgent } from '../../src/cli/service/launchd.ts'
import { serverUnit } from '../../src/cli/service/server-service.ts'
import { commandLine, environmentLines, userUnit } from '../../src/cli/service/systemd.ts'
import { argument, scheduledTask } from '../../src/cli/service/task-scheduler.ts'
import { testsFolder } from '../support/at-end.ts'
import { run, runJson } from '../support/cli.ts'

// The files of service managers, exactly, and the commands that write and load them.

const folder = testsFolder()

const PROGRAM = {
  words: ['/opt/a "b"/cloud-analytics', 'watch', '/home/a & b/50% <$HOME>\\x'],
  environment: { XDG_CONFIG_HOME: '/c "q" 100%' },
} as const

describe('the files', () => {
  test('a unit of systemd escapes quotes, backslashes, specifiers and variables', async () => {
    const { text, path } = userUnit({ ...PROGRAM }, '/home/a/.config')
    expect(path).toBe('/home/a/.config/systemd/user/cloud-analytics-watch.service')
    expect(text).toContain(
      'ExecStart="/opt/a \\"b\\"/cloud-analytics" "watch" "/home/a & b/50%% <$$HOME>\\\\x"\n' +
        'Environment="XDG_CONFIG_HOME=/c \\"q\\" 100%%"\nRestart=on-failure\n',
    )
    // the executable's path takes no variables
    expect(commandLine(['/a$b', '$c'])).toBe('"/a$b" "$$c"')
    expect(environmentLines({})).toBe('')
  })

  test('a launch agent is a property list', () => {
    const { text, path, load, unload, status } = launchAgent({ ...PROGRAM }, '/Users/ada', 501)
    expect(path).toBe('/Users/ada/Library/LaunchAgents/com.cloud-analytics.watch.plist')
    expect(text).toContain(`\t<array>
\t\t<string>/opt/a &quot;b&quot;/cloud-analytics</string>
\t\t<string>watch</string>
\t\t<string>/home/a &amp; b/50% &lt;$HOME&gt;\\x</string>
\t</array>
\t<key>EnvironmentVariables</key>
\t<dict>
\t\t<key>XDG_CONFIG_HOME</key>
\t\t<string>/c &quot;q&quot; 100%</string>
\t</dict>
\t<key>RunAtLoad</key>
\t<true/>
\t<key>KeepAlive</key>
\t<dict>
\t\t<key>SuccessfulExit</key>
\t\t<false/>
\t</dict>
`)
    expect(text).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/)
    expect(balance(text)).toEqual([])
    expect(load).toEqual([['launchctl', 'bootstrap', 'gui/501', path]])
    expect(unload).toEqual([['launchctl', 'bootout', 'gui/501/com.cloud-analytics.watch']])
    expect(status.at(-1)).toBe('gui/501/com.cloud-analytics.watch')
    expect(launchAgent({ words: ['/x'], environment: {} }, '/h', 1).text).not.toContain(
      'EnvironmentVariables',
    )
  })

  test('a task of Windows is UTF-16 with arguments that Windows splits again', () => {
    const user = { account: 'ACME\\a&b', config: 'C:\\Users\\ada\\AppData\\Roaming\\cloud-analytics' }
    const words = ['C:\\Program Files\\ca.exe', 'watch', 'C:\\Users\\ada\\.claude\\projects'] as const
    const { text, bytes = new Uint8Array(), path } = scheduledTask({ words, environment: {} }, user)
    expect(path).toBe('C:\\Users\\ada\\AppData\\Roaming\\cloud-analytics\\watch-task.xml')
    expect(text).toContain(
      '<Command>%SystemRoot%\\System32\\conhost.exe</Command>\n      <Arguments>--headless &quot;C:\\Program Files\\ca.exe&quot; watch C:\\Users\\ada\\.claude\\projects</Arguments>',
    )
    expect(text.match(/<UserId>ACME\\a&amp;b<\/UserId>/g)).toHaveLength(2)
    expect([...bytes.subarray(0, 4)]).toEqual([0xff, 0xfe, 0x3c, 0])
    expect(new TextDecoder('utf-16le').decode(bytes)).toBe(text)
    expect(balance(text)).toEqual([])
    const withVariable = scheduledTask({ words, environment: { CODEX_HOME: 'D:\\c x' } }, user)
    expect(withVariable.text).toContain(
      '--headless cmd.exe /d /s /c &quot;set &quot;CODEX_HOME=D:\\c x&quot;&amp;&amp; &quot;C:\\Program Files\\ca.exe&quot; watch',
    )
    expect(argument('')).toBe('""')
    expect(argument('a b\\')).toBe('"a b\\\\"')
    expect(argument('say \\"x"')).toBe('"say \\\\\\"x\\""')
  })

  test("the server's unit gives the program a state folder, a credential and nothing else", () => {
    const text = serverUnit(['/usr/local/bin/cloud-analytics'], '/etc/ca/50%', null)
    for (const line of [
      'ExecStart="/usr/local/bin/cloud-analytics" serve --database-url "@%d/database-url"',
      'LoadCredential=database-url:/etc/ca/50%%',
      'StateDirectory=cloud-analytics',
      'User=cloud-analytics',
      'ProtectSystem=strict',
      'ProtectHome=yes',
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'KillMode=mixed',
    ])
      expect(text.split('\n')).toContain(line)
    // deliveries in flight alone have 20 s
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(30)
    expect(serverUnit(['/x'], undefined, null)).not.toMatch(
      /LoadCredential|database-url|BACKUP_DIR|ReadWritePaths/,
    )
    const lines = serverUnit(['/x'], undefined, '/mnt/50% "b"').split('\n')
    expect(lines).toContain('ReadWritePaths="/mnt/50%% \\"b\\""')
    expect(lines).toContain('Environment="BACKUP_DIR=/mnt/50%% \\"b\\""')
  })

  test.skipIf(Bun.which('systemd-analyze') === null)('systemd takes the units', async () => {
    const analyze = async (...args: string[]) => {
      const runtime = join(folder.path, 'runtime')
      mkdirSync(runtime, { recursive: true, mode: 0o700 })
      const child = Bun.spawn(['systemd-analyze', ...args], {
        env: { PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: runtime },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text()])
      return { code: await child.exited, output, problems }
    }
    const server = join(folder.path, 'cloud-analytics.service')
    writeFileSync(server, serverUnit([process.execPath], '/etc/hostname', '/mnt/backups'))
    expect(await analyze('verify', server)).toMatchObject({ code: 0, problems: '' })
    // 10 is the most exposed; the threshold is in tenths
    expect(await analyze('security', '--offline=true', '--threshold=25', server)).toMatchObject({ code: 0 })
    const words = [process.execPath, 'watch', '/a "b" $c %d'] as const
    const user = userUnit({ words, environment: { XDG_DATA_HOME: '/a b' } }, '/x')
    writeFileSync(join(folder.path, user.name), user.text)
    expect(await analyze('verify', '--user', join(folder.path, user.name))).toMatchObject({
      code: 0,
      problems: '',
    })
  })
})

/** Elements that are opened and not closed, or the other way round. */
function balance(xml: string): string[] {
  const open: string[] = []
  for (const [, close, name = '', empty] of xml.matchAll(/<(\/?)([A-Za-z]+)[^<>]*?(\/?)>/g)) {
    if (close === '/') {
      if (open.at(-1) === name) open.pop()
      else open.push(`/${name}`)
    } else if (empty !== '/') open.push(name)
  }
  return open
}

describe.if(process.platform === 'linux')('the commands', () => {
  let homes = 0
  const bin = join(folder.path, 'bin')
  const log = join(folder.path, 'systemctl.log')
  beforeAll(() => {
    mkdirSync(bin)
    const systemctl = join(bin, 'systemctl')
    writeFileSync(
      systemctl,
      `#!/bin/sh\necho "$@" >> '${log}'\n[ "$2" = is-active ] && echo active\nexit 0\n`,
    )
    chmodSync(systemctl, 0o755)
  })

  /** A user who has signed in and uses Claude Code; `PATH` has the stand-in for systemctl, or none. */
  function user({ systemd }: { systemd: boolean }) {
    homes += 1
    const home = join(folder.path, `home-${homes}`)
    const claude = join(home, 'my claude', 'projects')
    mkdirSync(claude, { recursive: true })
    const config = join(home, '.config')
    mkdirSync(join(config, 'cloud-analytics'), { recursive: true })
    const login = { server: 'https://analytics.example', key: makeKey().key, member: null }
    const file = join(config, 'cloud-analytics', 'login.json')
    writeFileSync(file, JSON.stringify(login), { mode: 0o600 })
    const env = {
      DATA_DIR: join(home, 'data'),
      HOME: home,
      XDG_CONFIG_HOME: '',
      CLAUDE_CONFIG_DIR: join(home, 'my claude'),
      CLOUD_ANALYTICS_KEY: login.key,
      CLOUD_ANALYTICS_USER: 'ada@example.com',
      PATH: systemd ? `${bin}:/usr/bin:/bin` : '/nonexistent',
    }
    return {
      env,
      claude,
      login,
      file,
      unit: join(config, 'systemd', 'user', 'cloud-analytics-watch.service'),
    }
  }

  test('install writes and starts, status says so, uninstall removes', async () => {
    const { env, claude, unit, login } = user({ systemd: true })
    const printed = await run(['service', 'install', '--print'], env)
    expect(existsSync(unit)).toBe(false)
    expect(await runJson(['service', 'install'], env)).toEqual({
      path: unit,
      loaded: true,
      server: login.server,
      run: [],
    })
    const text = readFileSync(unit, 'utf8')
    expect(text).toBe(printed.stdout)
    expect(text).toContain(' "watch"\n')
    expect(text).toContain(`Environment="CLAUDE_CONFIG_DIR=${env.CLAUDE_CONFIG_DIR}"\n`)
    expect(text).toContain('Environment="CLOUD_ANALYTICS_USER=ada@example.com"\n')
    expect(text).not.toContain('ca_live_')
    expect(readFileSync(log, 'utf8').split('\n')).toEqual([
      '--user daemon-reload',
      '--user enable cloud-analytics-watch.service',
      '--user restart cloud-analytics-watch.service',
      '',
    ])
    expect(await runJson(['service', 'status'], env)).toEqual({
      path: unit,
      installed: true,
      loaded: true,
      running: true,
    })
    // again, with another folder
    await runJson(['service', 'install', join(claude, '..')], env)
    expect(readFileSync(unit, 'utf8')).toContain(` "watch" "${join(claude, '..')}"\n`)
    expect(await runJson(['service', 'uninstall'], env)).toEqual({ path: unit, removed: true })
    expect(existsSync(unit)).toBe(false)
    expect(readFileSync(log, 'utf8')).toContain(
      '--user disable --now cloud-analytics-watch.service\n--user daemon-reload\n',
    )
    expect(await runJson(['service', 'uninstall'], env)).toEqual({ path: unit, removed: false })
  })

  test('where it cannot be started, what to run is said', async () => {
    const { env, unit } = user({ systemd: false })
    const { code, stdout, stderr } = await run(['service', 'install', '--json'], env)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      path: unit,
      loaded: false,
      run: [
        'systemctl --user daemon-reload',
        'systemctl --user enable cloud-analytics-watch.service',
        'systemctl --user restart cloud-analytics-watch.service',
      ],
    })
    expect(stderr).toContain('there is no systemctl on this machine')
    expect(stderr).toContain('  systemctl --user daemon-reload\n')
    expect(existsSync(unit)).toBe(true)
    const status = await run(['service', 'status', '--json'], env)
    expect(status.code).toBe(1)
    expect(JSON.parse(status.stdout)).toMatchObject({ installed: true, running: false })
  })

  test('without a login or root nothing is written', async () => {
    const { env, unit, file } = user({ systemd: true })
    const fails = async (args: string[], code: number, message: string) => {
      const done = await run(['service', ...args], env)
      expect([args, done.code, done.stderr]).toEqual([args, code, expect.stringContaining(message)])
    }
    await fails(['install', '/nonexistent'], 1, 'no such file or folder')
    await fails(['install', '--database-url-file', '/x'], 2, 'needs --server')
    await fails(['install', '--server', '--database-url-file', 'x'], 2, 'absolute')
    await fails(['install', '--server', '/tmp'], 2, 'takes no paths')
    for (const dir of ['backups', '/home/ada/backups', '/tmp/backups'])
      await fails(['install', '--server', '--backup-dir', dir], 2, '--backup-dir')
    writeFileSync(file, '')
    await fails(['install'], 1, 'is damaged')
    await run(['logout'], env)
    // the key of this shell is not the service's
    await fails(['install'], 1, 'not signed in')
    expect(existsSync(unit)).toBe(false)
  })

  test("the server's files are printed", async () => {
    const { env } = user({ systemd: true })
    const { files } = await runJson(['service', 'install', '--server', '--print'], env)
    expect(files).toEqual([
      { path: '/etc/sysusers.d/cloud-analytics.conf', text: expect.stringMatching(/^u cloud-analytics /) },
      { path: '/etc/systemd/system/cloud-analytics.service', text: expect.stringContaining(' serve\n') },
    ])
  })

  test("the folder of backups is the service user's, and writable to the unit", async () => {
    const { env } = user({ systemd: true })
    const args = ['service', 'install', '--server', '--print', '--backup-dir', '/mnt/backups']
    const shown = await runJson(args, env)
    expect(shown.files[1].text).toContain(
      'Environment="BACKUP_DIR=/mnt/backups"\nReadWritePaths="/mnt/backups"\n',
    )
    expect(shown.run[1]).toBe('install -d -m 0700 -o cloud-analytics -g cloud-analytics /mnt/backups')
  })
})
