import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { longWordsIn } from '../../../src/analysis/detection/long-words.ts'
import { searchedOf } from '../../../src/analysis/detection/prepare-text.ts'
import { OWN_RULES, ownFindings, ownRulesFor } from '../../../src/analysis/detection/secret-rules.ts'
import { findSecrets } from '../../../src/analysis/detection/secrets.ts'
import { PLANTED } from '../../support/planted-secrets.ts'
import { FILES } from './file-forms.ts'
import { GITLEAKS_FORMS } from './gitleaks-forms.ts'
import { withoutConditions } from './preset-patterns.ts'
import { MORE_FORMS, VENDORS } from './vendor-forms.ts'

describe('secrets of services', () => {
  for (const [name, { text, secret }] of Object.entries(GITLEAKS_FORMS)) {
    test(`${name} is found as a whole`, async () => {
      const found = await findSecrets(text)
      expect(found).toHaveLength(1)
      expect(text.slice(found[0]?.start, found[0]?.end)).toBe(secret)
    })
  }
})

describe('secrets of vendors, alone in a text', () => {
  test('there are fifty vendors', () => expect(Object.keys(VENDORS)).toHaveLength(50))
  for (const [name, secret] of Object.entries({ ...VENDORS, ...MORE_FORMS })) {
    test(`${name}: found as a whole`, async () => {
      const text = `first line\n${secret}\n`
      const found = await findSecrets(text)
      expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([secret])
    })
  }
})

describe('secrets in files and command lines', () => {
  test('there are 48 forms', () => expect(Object.keys(FILES)).toHaveLength(48))
  for (const [name, { text, secret }] of Object.entries(FILES)) {
    test(`${name}: found as a whole`, async () => {
      const found = await findSecrets(text)
      expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([secret])
    })
  }
})

test('a secret of a known kind is named by it, whatever variable or header it is in, also in base64', async () => {
  const secret = `${PLANTED.github}`
  const encoded = Buffer.from(secret).toString('base64')
  const text = `MY_TOKEN=${secret}\nAuthorization: Bearer ${secret}\nMY_SECRET: ${encoded}\n`
  const found = await findSecrets(text)
  expect(found.map(({ ruleId, line }) => [ruleId, line])).toEqual([
    ['github', 1],
    ['github', 2],
    ['github', 3],
  ])
})

describe('what is no secret', () => {
  const value = 'k3Jd92mXq7Lw0ZpT5vRb8YcN'
  const texts = [
    'API_KEY=your-api-key-12345678',
    'API_KEY=xxxxxxxxxxxxxxxxxxxx1',
    'API_KEY=<your key 1>',
    `API_KEY=\${VAULT_KEY_${value}}`,
    `API_KEY=$(pass show key/${value})`,
    'API_KEY=example-k3Jd92mXq7Lw0',
    'DB_PASSWORD=changeme12',
    'DB_PASSWORD=process.env.DB_PASSWORD_1',
    'password: Uint8Array',
    'const token = parser.nextToken2(source)',
    `SIGNING_KEY=/etc/ssl/private/${value}.pem`,
    `TOKEN_URL=${value}`,
    `NEXT_PUBLIC_SITE_KEY=${value}`,
    `cacheKey: "${value}"`,
    'Authorization: Bearer YOUR_TOKEN_0123456789abcdef',
    'Authorization: Bearer $TOKEN_k3Jd92mXq7Lw0ZpT5vRb8YcN',
    'redis://localhost:6379/0',
    'redis://user:password1@localhost:6379',
    `redis://:\${REDIS_${value}}@cache:6379`,
    'dp.start.of.the.name.that.has.many.words.in.it.and.no.secret',
    'key-0123456789abcdef',
    'http://user:pass@example.com/',
    'machine api.acme.dev login deploy password $NETRC_PASSWORD_1',
    'curl -u user:your-password-1 https://api.acme.dev',
    `curl -u "deploy:\${API_PASSWORD_1}" https://api.acme.dev`,
    'docker run -p 8080:80 -u 1000:1000 --token <your-token-1>',
    `mkdir -p build/${value}`,
    'amqp://guest:password1@localhost:5672',
    `{"auth": "${Buffer.from('user:password1').toString('base64')}"}`,
    'ENV API_TOKEN changeme-12345678',
    `name: DB_PASSWORD\n  valueFrom: { secretKeyRef: ${value} }`,
  ]
  for (const text of texts) test(text, async () => expect(await findSecrets(`${text}\n`)).toEqual([]))
})

describe('placeholders in the forms of vendors are no secrets', () => {
  for (const [name, secret] of Object.entries(VENDORS)) {
    const placeholder = secret.replace(/[A-Za-z0-9+/]{16,}/g, (random) => 'x'.repeat(random.length))
    if (placeholder === secret) continue
    test(name, async () => expect(await findSecrets(`key: ${placeholder}\n`)).toEqual([]))
  }

  test('a token of Atlassian with another checksum', async () => {
    const token = `${VENDORS.Atlassian}`
    const other = token.endsWith('0') ? '1' : '0'
    expect(await findSecrets(`${token.slice(0, -1)}${other}\n`)).toEqual([])
  })

  test('a key that is meant to be public', async () => {
    expect(
      await findSecrets(`${VENDORS.Langfuse?.replace('sk', 'pk')} ${VENDORS.PostHog?.replace('x', 'c')}`),
    ).toEqual([])
  })
})

/** The expression that texts for a rule are generated from; that of web tokens is only their middle. */
const generatedBy = ({ ruleId, pattern }: (typeof OWN_RULES)[number]): RegExp =>
  ruleId === 'json-web-token' ? /ey[\w-]{17,}\.ey[\w/-]{17,}\.[\w/-]{10,}/ : pattern

describe('a rule of our own is not left out for a text in which it finds something', () => {
  for (const [index, rule] of OWN_RULES.entries()) {
    if ((rule.needed ?? rule.word ?? rule.heads) === undefined) continue
    test(`${index} ${rule.ruleId}`, () => {
      const samples = fc.sample(fc.stringMatching(new RegExp(withoutConditions(generatedBy(rule)))), {
        numRuns: 200,
        seed: 7,
      })
      for (const sample of samples) {
        const text = `before ${sample} after`
        if ([...ownFindings(rule, text)].length > 0)
          expect(ownRulesFor(searchedOf(text, longWordsIn(text))), text).toContain(rule)
      }
    })
  }
})
