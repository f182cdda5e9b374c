import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonInit } from '../../support/api.ts'
import { testsFolder } from '../../support/at-end.ts'
import { run, runJson, serving } from '../../support/cli.ts'
import { newDataFolder } from '../../support/data-folder.ts'

// A backup of somebody else, who can sign in by everything that is in it, is restored elsewhere.

// each starts several processes, on a machine that may be busy
setDefaultTimeout(180_000)
const PASSWORD = 'correct horse battery'
const folder = testsFolder()
const at = (name: string) => join(folder.path, name)
const settings = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }
const theirs = { ...settings, DATA_DIR: at('theirs') }
const file = at('planted.zst')

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, jsonInit('POST', body, headers))
const tokenOf = ({ url }: { url: string }) => url.replace(/^.*#token=/, '')

await newDataFolder(theirs.DATA_DIR)
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], theirs)
const server = await serving('serve', theirs)
const { url } = server
const owner = (name: string) =>
  runJson(['owner', 'create', '--org', 'acme', '--email', `${name}@example.com`, '--name', name], theirs)
const accepted = await post(url, '/auth/accept', { token: tokenOf(await owner('eve')), password: PASSWORD })
const cookie = (accepted.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
const { csrf_token } = (await (await fetch(`${url}/v1/whoami`, { headers: { cookie } })).json()) as {
  csrf_token: string
}
const device = (await (await post(url, '/auth/device', { name: 'eves-laptop' })).json()) as {
  device_code: string
  user_code: string
}
const approved = await post(
  url,
  '/auth/device/approve',
  { user_code: device.user_code, approve: true },
  { cookie, 'x-csrf-token': csrf_token },
)
expect(approved.status).toBe(204)
const { key } = await runJson(
  ['key', 'create', '--org', 'acme', '--name', 'planted', '--scopes', 'read,write,webhooks,admin'],
  theirs,
)
const hook = { url: 'http://127.0.0.1:9/eve', events: ['session.completed'] }
expect((await post(url, '/v1/webhooks', hook, { authorization: `Bearer ${key}` })).status).toBe(201)
const invitation = tokenOf(await owner('mallory'))
const planted = { cookie, invitation, device: device.device_code, key }
await runJson(['backup', file, '--with-secret-key'], theirs)
await server.end()

const WAYS = {
  api_keys: [
    {
      id: expect.any(String),
      name: 'planted',
      scopes: ['read', 'write', 'webhooks', 'admin'],
      organization: 'acme',
    },
  ],
  people: [{ email: 'eve@example.com', role: 'owner', signs_in_by: 'password', organization: 'acme' }],
  destinations: [
    { id: expect.any(String), url: 'http://127.0.0.1:9/eve', enabled: true, organization: 'acme' },
  ],
  sessions: [{ email: 'eve@example.com', role: 'owner', sessions: 1, organization: 'acme' }],
  invitations: [{ email: 'mallory@example.com', role: 'owner', organization: 'acme' }],
  devices: [{ name: 'eves-laptop', email: 'eve@example.com', organization: 'acme' }],
}

test('verify lists all that would let somebody in, of the own server’s backup nothing', async () => {
  const here = { ...settings, DATA_DIR: at('nowhere') }
  expect(await runJson(['backup', 'verify', file], here)).toMatchObject(WAYS)
  const { stdout } = await run(['backup', 'verify', file], here)
  for (const line of [
    /People who can sign in.*:\nEMAIL.*\neve@example.com +owner +password +acme\n/,
    /Destinations .*:\nID.*\n\S+ +http:\/\/127.0.0.1:9\/eve +true +acme\n/,
    /Sessions of browsers; a restore ends them:\nEMAIL.*\neve@example.com +owner +1 +acme\n/,
    /Invitations; a restore ends them:\nEMAIL.*\nmallory@example.com +owner +acme\n/,
    /Approved devices; a restore ends them:\nNAME.*\neves-laptop +eve@example.com +acme\n/,
  ])
    expect(stdout).toMatch(line)
  const own = await runJson(['backup', 'verify', file], theirs)
  for (const name of Object.keys(WAYS)) expect(own).not.toHaveProperty(name)
})

test('a restore lists it, ends sessions, invitations and approvals, and leaves the key', async () => {
  const here = { ...settings, DATA_DIR: at('here') }
  const restored = await run(['restore', file, '--trust', '--json'], here)
  expect([restored.code, JSON.parse(restored.stdout)]).toMatchObject([0, WAYS])
  expect(restored.stderr).toContain('--with-secret-key takes the one in the backup')
  expect(existsSync(at('here/secret.key'))).toBe(false)
  await runJson(['webhook', 'new-secrets', '--all', '--yes'], here)
  const { url, end } = await serving('serve', here)
  try {
    const { cookie, invitation, device, key } = planted
    expect((await fetch(`${url}/v1/whoami`, { headers: { cookie } })).status).toBe(401)
    expect((await post(url, '/auth/accept', { token: invitation, password: PASSWORD })).status).toBe(401)
    const polled = await post(url, '/auth/device/token', { device_code: device })
    expect([polled.status, await polled.json()]).toEqual([400, { error: 'expired_token' }])
    // these are said, and are the operator's to end
    const authorization = `Bearer ${key}`
    expect((await fetch(`${url}/v1/whoami`, { headers: { authorization } })).status).toBe(200)
    const signedIn = await post(url, '/auth/password', { email: 'eve@example.com', password: PASSWORD })
    expect(signedIn.status).toBe(204)
  } finally {
    await end()
  }
})

test('a restore of the own backup ends nothing, and the key inside is taken where it is asked for', async () => {
  const own = { ...settings, DATA_DIR: at('own') }
  mkdirSync(own.DATA_DIR)
  writeFileSync(at('own/secret.key'), readFileSync(at('theirs/secret.key')))
  expect(await runJson(['restore', file], own)).not.toHaveProperty('sessions')
  const { url, end } = await serving('serve', own)
  const { status } = await fetch(`${url}/v1/whoami`, { headers: { cookie: planted.cookie } })
  await end()
  expect(status).toBe(200)

  const taken = { ...settings, DATA_DIR: at('taken') }
  const { code, stderr } = await run(['restore', file, '--trust', '--with-secret-key'], taken)
  expect([code, stderr.split('\n').filter((line) => line.includes('secret.key'))]).toEqual([
    0,
    [
      expect.stringContaining(
        `secret.key is now that of ${taken.DATA_DIR}: whoever made the backup knows it`,
      ),
    ],
  ])
  expect(readFileSync(at('taken/secret.key'))).toEqual(readFileSync(at('theirs/secret.key')))
})
