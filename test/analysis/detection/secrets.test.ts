import { describe, expect, test } from 'bun:test'
import { cleanRecords } from '../../../src/analysis/detection/record-secrets.ts'
import { findSecrets, findSecretsInTexts, securityScore } from '../../../src/analysis/detection/secrets.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { PLANTED } from '../../support/planted-secrets.ts'
import { sessionRecord } from '../../support/records.ts'

const session = (fields: Partial<SessionRecord>): SessionRecord =>
  sessionRecord('sess_1', { project_name: 'p', created_at: '2026-02-01T00:00:00Z', ...fields })

describe('secrets', () => {
  for (const [ruleId, secret] of Object.entries(PLANTED)) {
    test(`${ruleId} is found by kind and place, without its text`, async () => {
      const text = `first line\nvalue: ${secret}\n`
      const found = await findSecrets(text)
      expect(found).toHaveLength(1)
      expect(found[0]).toMatchObject({
        ruleId,
        line: 2,
        start: text.indexOf(secret),
        end: text.indexOf(secret) + secret.length,
      })
      expect(found[0]?.fingerprint).toMatch(/^[0-9a-f]{16}$/)
      for (const part of secret.split('\n')) expect(JSON.stringify(found)).not.toContain(part.slice(-12))
    })
  }

  test('plain text, hashes and ids are not secrets', async () => {
    const text = `commit ${'0123456789abcdef'.repeat(2)}01234567\nuuid 3a4a4468-815f-4494-a1ad-5681a263b5d4\nsha256 ${'ab'.repeat(32)}\npassword: REDACTED`
    expect(await findSecrets(text)).toEqual([])
  })

  test('a private key of any length is found', async () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nabc\n-----END RSA PRIVATE KEY-----'
    expect(await findSecrets(`key: ${key}\n`)).toMatchObject([
      { ruleId: 'privatekey', start: 5, end: 5 + key.length },
    ])
  })

  test('a text cannot switch the scan off', async () => {
    expect(await findSecrets(`// secretlint-disable\n${PLANTED.github}`)).toHaveLength(1)
  })

  test('two passwords of one address have one fingerprint, so that none can be guessed from it', async () => {
    const [first] = await findSecrets('postgres://shop:hunter22@db.internal/shop')
    const [second] = await findSecrets('postgres://shop:letmein99@db.internal/shop')
    expect(first?.fingerprint).toBe(second?.fingerprint ?? '')
  })

  test('many texts are scanned at once, each with its own lines', async () => {
    const byText = await findSecretsInTexts([
      { text: `a\nb\n${PLANTED.github}`, place: 'first' },
      { text: 'nothing', place: 'second' },
      { text: `${PLANTED.slack}\n${PLANTED.github}`, place: 'third' },
    ])
    const found = [...byText].flatMap(([{ place }, secrets]) => secrets.map((secret) => ({ place, secret })))
    expect(found.map(({ place, secret }) => [place, secret.ruleId, secret.line, secret.start])).toEqual([
      ['first', 'github', 3, 4],
      ['third', 'slack', 1, 0],
      ['third', 'github', 2, (PLANTED.slack?.length ?? 0) + 1],
    ])
    expect(found[0]?.secret.fingerprint).toBe(found[2]?.secret.fingerprint ?? '')
  })

  test('a secret near the end of a long text has the right position', async () => {
    const text = `${'some words of no meaning\n'.repeat(250_000)}${PLANTED.github}\n`
    expect(await findSecrets(text)).toMatchObject([{ ruleId: 'github', line: 250_001 }])
  })

  test('the score takes points per distinct fingerprint and stops at 0', () => {
    const finding = (severity: 'critical' | 'high' | 'medium' | 'low', fingerprint: string) => ({
      severity,
      fingerprint,
    })
    expect(securityScore([])).toBe(100)
    expect(
      securityScore([
        finding('critical', 'a'),
        finding('high', 'b'),
        finding('medium', 'c'),
        finding('low', 'd'),
      ]),
    ).toBe(49)
    expect(securityScore([finding('high', 'a'), finding('critical', 'a'), finding('high', 'a')])).toBe(75)
    expect(securityScore([1, 2, 3, 4, 5].map((n) => finding('critical', `${n}`)))).toBe(0)
  })

  test('every text of a record is scanned', async () => {
    const record = session({
      summary: `deployed with ${PLANTED.github}`,
      analysis: { summary: `uses ${PLANTED.slack}`, issues: [`${PLANTED.npm}`] },
      observations: [
        { type: 'note', title: 'key', content: `${PLANTED.anthropic}`, file_path: '.env', turn_number: 3 },
      ],
      turn_records: [{ role: 'user' }, { role: 'assistant', content: `see\n${PLANTED['google-api-key']}` }],
    })
    const [clean] = await cleanRecords([record], () => undefined)
    const findings = clean?.findings ?? []
    for (const secret of Object.values(PLANTED))
      expect(JSON.stringify(clean)).not.toContain(secret.slice(-12))
    expect(findings.map((finding) => finding.rule_id).sort()).toEqual([
      'anthropic',
      'github',
      'google-api-key',
      'npm',
      'slack',
    ])
    expect(findings.find((finding) => finding.rule_id === 'google-api-key')).toMatchObject({
      turn_number: 2,
      line: 2,
      category: 'secret',
      severity: 'high',
    })
    expect(findings.find((finding) => finding.rule_id === 'anthropic')).toMatchObject({
      file: '.env',
      turn_number: 3,
    })
    for (const secret of Object.values(PLANTED))
      expect(JSON.stringify(findings)).not.toContain(secret.slice(-12))
  })

  test('a secret that crosses the end of a piece is found as a whole', async () => {
    const secret = `${PLANTED['json-web-token']}`
    const text = `${'word '.repeat(900_000).slice(0, 4 * 1024 * 1024 - secret.length + 5)}\n${secret}\n`
    expect(await findSecrets(text)).toMatchObject([{ start: text.indexOf(secret), end: text.length - 1 }])
  })

  test('every secret of a long text is found once and whole, wherever the pieces of the scan end', async () => {
    const line = 'some words of no meaning\n'
    let text = ''
    const planted: { start: number; end: number; line: number }[] = []
    for (let n = 0; text.length < 3_000_000; n += 1) {
      text += line.repeat(1 + ((n * 7) % 40))
      const body = `${'MIIEabcd'.repeat(8)}\n`.repeat(10 + ((n * 37) % 290))
      const secret =
        n % 3 === 0
          ? `-----BEGIN RSA PRIVATE KEY-----\n${body}-----END RSA PRIVATE KEY-----`
          : n % 3 === 1
            ? `${PLANTED['json-web-token']}`
            : `${PLANTED.github}`
      planted.push({ start: text.length, end: text.length + secret.length, line: text.split('\n').length })
      text += `${secret}\n`
    }
    const found = await findSecrets(text)
    expect(found.map(({ start, end, line }) => ({ start, end, line }))).toEqual(planted)
  })

  test('a secret of any length on one line is found as a whole', async () => {
    const token = `${PLANTED['json-web-token']}${'a'.repeat(900_000)}`
    const found = await findSecrets(`${'word '.repeat(90_000)}${token}\n${PLANTED.github}`)
    expect(found).toMatchObject([
      { ruleId: 'json-web-token', start: 450_000, end: 450_000 + token.length, line: 1 },
      { ruleId: 'github', line: 2 },
    ])
  })

  test('a record has 1,000 findings: distinct ones first, and the number of omitted ones', async () => {
    const same = `${planted(0)}\n`.repeat(1_200)
    const record = session({
      turn_records: [
        { content: same },
        { content: Array.from({ length: 40 }, (_, n) => planted(n)).join(' ') },
      ],
    })
    const [clean] = await cleanRecords([record], () => undefined)
    const findings = clean?.findings ?? []
    for (const secret of Object.values(PLANTED))
      expect(JSON.stringify(clean)).not.toContain(secret.slice(-12))
    expect(findings).toHaveLength(1_000)
    expect(new Set(findings.map(({ fingerprint }) => fingerprint)).size).toBe(40)
    expect(findings.map(({ turn_number }) => turn_number)).toEqual(
      findings.map(({ turn_number }) => turn_number).sort(),
    )
    expect(securityScore(findings)).toBe(0)
    expect(findings.at(-1)?.description).toEndWith(' 240 more were found and are not listed.')
  })
})

/** A GitHub token that differs for each number. */
const planted = (n: number) => `ghp_${String(n).padStart(4, '0')}${PLANTED.github?.slice(8)}`
