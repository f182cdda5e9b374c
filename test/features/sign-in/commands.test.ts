import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listen } from '../../../src/http/listen.ts'
import { newOrg, testApp } from '../../support/api.ts'
import { atEnd, testsFolder } from '../../support/at-end.ts'
import { PROGRAM } from '../../support/cli.ts'
import { silent, testsDatabase } from '../../support/postgres.ts'
import { browser, cookieOf, PASSWORD, post, signedIn } from './people.ts'

// The commands by which people and machines come to sign in, on the test's database and server.

const home = testsFolder().path
const db = await testsDatabase()
const app = testApp(db.sql, { config: { host: '127.0.0.1', port: 0 } })
const server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
atEnd(server.stop)

const env = () => ({
  PATH: process.env.PATH,
  HOME: home,
  DATABASE_URL: db.url,
  PUBLIC_URL: 'https://analytics.example.com/ca',
})

async function run(...args: string[]) {
  const child = Bun.spawn([...PROGRAM, ...args], { env: env(), stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { out: out.trim(), err, code }
}

test('owner create and member invite print the link by which a person signs in', async () => {
  const { slug, orgId } = await newOrg(db.sql)
  const about = ['--org', slug, '--email', 'Ada@example.com', '--name', 'Ada']
  const made = JSON.parse((await run('owner', 'create', ...about, '--json')).out)
  expect({ ...made }).toEqual({
    id: expect.stringMatching(/^user_/),
    email: 'ada@example.com',
    url: expect.stringMatching(/^https:\/\/analytics\.example\.com\/ca\/accept#token=[A-Za-z0-9_-]{43}$/),
    expires_at: expect.stringMatching(/Z$/),
  })
  const token = made.url.split('=')[1]
  const accepted = await post(app, '/auth/accept', { token, password: PASSWORD })
  expect(accepted.status).toBe(204)
  const page = await browser(app, cookieOf(accepted))
  expect(await (await page.get('/v1/members?role=owner')).json()).toMatchObject({
    data: [{ id: made.id, status: 'active' }],
  })
  const invited = await page.send('POST', `/v1/members/${made.id}/invitation`)
  expect([invited.status, invited.headers.get('location')]).toEqual([201, `/v1/members/${made.id}`])
  expect(await invited.json()).toEqual({
    url: expect.stringMatching(new RegExp(`^${server.url}/accept#token=`)),
    expires_at: expect.stringMatching(/Z$/),
  })
  const link = await run('member', 'invite', 'ada@EXAMPLE.com', '--org', slug)
  expect(link.out).toMatch(/^https:\/\/analytics\.example\.com\/ca\/accept#token=/)
  const again = JSON.parse((await run('member', 'invite', 'ada@example.com', '--org', slug, '--json')).out)
  expect(Object.keys(again)).toEqual(['url', 'expires_at'])
  const nobody = await run('member', 'invite', 'nobody@example.com', '--org', slug)
  expect([nobody.code, nobody.err]).toEqual([
    1,
    'error: there is no member "nobody@example.com"; those there are: cloud-analytics member list --org SLUG\n',
  ])
  const wrong = await run('owner', 'create', '--org', slug, '--email', 'ada', '--name', 'Ada')
  expect(wrong.code).toBe(2)
  // a member becomes an owner
  const { id } = await signedIn(app, db.sql, orgId, 'bob@example.com')
  const bob = ['--org', slug, '--email', 'bob@example.com', '--name', 'Bob', '--json']
  expect(JSON.parse((await run('owner', 'create', ...bob)).out).id).toBe(id)
})

test('login at a terminal gets a key by the approval of a person', async () => {
  const { orgId, slug } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@laptop.example')
  let shown = ''
  const decoder = new TextDecoder()
  const coded = Promise.withResolvers<string>()
  const child = Bun.spawn([...PROGRAM, 'login', '--server', server.url, '--no-browser'], {
    env: { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: '' },
    terminal: {
      data(_terminal, bytes) {
        shown += decoder.decode(bytes)
        const code = /code: ([A-Z]{4}-[A-Z]{4})/.exec(shown)?.[1]
        if (code !== undefined) coded.resolve(code)
      },
    },
  })
  const ended = child.exited.then(() => {
    throw new Error(shown)
  })
  const user_code = await Promise.race([coded.promise, ended])
  expect(shown).toContain(`open ${server.url}/device in a browser`)
  expect((await ada.send('POST', '/auth/device/approve', { user_code, approve: true })).status).toBe(204)
  expect(await child.exited).toBe(0)
  const login = JSON.parse(readFileSync(join(home, '.config/cloud-analytics/login.json'), 'utf8'))
  expect(login).toMatchObject({ server: server.url, member: 'ada@laptop.example' })
  expect(shown).toContain(`signed in to ${server.url}, organization ${slug}`)
  expect(shown).not.toContain(login.key)
})
