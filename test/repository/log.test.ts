import { describe, expect, test } from 'bun:test'
import { createLog, type LogFields, redact } from '../../src/base/log.ts'

/** The line that a log writes. */
function lineOf(format: 'json' | 'pretty', message: string, fields: LogFields = {}): string {
  const lines: string[] = []
  createLog('debug', format, (line) => lines.push(line)).info(message, fields)
  return lines.join('')
}

const SECRETS = [
  ['an API key', 'key ca_live_ab12cd34_HIDDENhiddenHIDDENhidden0123456789ab end', 'ca_live'],
  ['a signing secret', 'with whsec_HIDDEN+hidden/HIDDEN== end', 'whsec'],
  ['a bearer token', 'Authorization: bearer HIDDEN-hidden.HIDDEN end', 'HIDDEN'],
  ['a password in a URL', 'postgres://u:HIDDEN@db/x end', 'HIDDEN'],
  ['one with a slash', 'postgres://u:HIDDEN/x@db/y end', 'HIDDEN'],
  ['one with an at', 'postgres://u:a@b@HIDDEN@db:5432/y end', 'HIDDEN'],
  ['one with a colon and a question mark', 'postgresql://u:a:HIDDEN?b#c@db/y end', 'HIDDEN'],
  ['one with a quote', 'postgres://u:a"HIDDEN@db/y end', 'HIDDEN'],
  ['one of a user with an at', 'postgres://u@corp:HIDDEN@db/y end', 'HIDDEN'],
  ['one without a user', 'redis://:HIDDEN@db end', 'HIDDEN'],
  ['one in the query', 'postgres://db/x?user=u&password=HIDDEN end', 'HIDDEN'],
] as const

describe.each(['json', 'pretty'] as const)('%s', (format) => {
  test.each(SECRETS)('%s is masked wherever it stands', (_name, text, secret) => {
    const error = new Error(text)
    const nested = { list: [{ deep: text }], error, [text]: 1 }
    const lines = [
      lineOf(format, text),
      lineOf(format, 'm', { text, error, nested }),
      lineOf(format, 'm', { text }),
      lineOf(format, 'm', { text: `failed:\n\t${text}` }),
    ]
    for (const line of lines) {
      expect(line).not.toContain(secret)
      expect(line).toContain('[redacted]')
      expect(line).toContain('end')
      if (format === 'json') JSON.parse(line)
    }
  })

  test.each(SECRETS)('%s is masked behind any white space', (_name, text, secret) => {
    for (const space of ['\t', '\n', '\r\n']) {
      expect(lineOf(format, 'm', { text: `failed:${space}${text.replaceAll(' ', space)}` })).not.toContain(
        secret,
      )
    }
  })

  test('fields with the name of a secret are masked at any depth', () => {
    const request = { headers: { authorization: 'Basic HIDDEN', 'set-cookie': ['HIDDEN'] }, method: 'GET' }
    const line = lineOf(format, 'm', {
      request,
      config: { databaseUrl: 'HIDDEN', secretKey: [1, 2] },
      key: 1,
    })
    expect(line).not.toContain('HIDDEN')
    expect(line).not.toContain('[1,2]')
    expect(line).toContain('GET')
  })
})

test('what is no secret stays', () => {
  const text = 'GET http://127.0.0.1:8080/v1/sessions by key_1 of dev@example.com in 2 tokens'
  expect(redact(text)).toBe(text)
  expect(lineOf('json', 'm', { tokens: 3, key_id: 'a', url: 'http://a:80/', mail: 'a@b' })).toContain(
    '"tokens":3,"key_id":"a","url":"http://a:80/","mail":"a@b"',
  )
})
