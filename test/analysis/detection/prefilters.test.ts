import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ENCODED, encodedIn } from '../../../src/analysis/detection/encoded-secrets.ts'
import { joinedWords, longWordsIn } from '../../../src/analysis/detection/long-words.ts'
import { loadPresetRules, reportsOf, rulesFor } from '../../../src/analysis/detection/preset-rules.ts'
import { searchedOf } from '../../../src/analysis/detection/searched.ts'
import { OWN_RULES } from '../../../src/analysis/detection/secret-rules.ts'
import { patternsOf, withoutConditions } from './preset-patterns.ts'

/** Reports of ids of AWS accounts, which are no secrets. */
const NOT_SECRET = 'AWSAccountID'

describe('a rule of the preset is not left out for a text in which it finds something', async () => {
  for (const rule of await loadPresetRules()) {
    test(rule.meta.id, async () => {
      for (const pattern of await patternsOf(rule)) {
        const matches = fc.sample(fc.stringMatching(new RegExp(withoutConditions(pattern))), {
          numRuns: 100,
          seed: 7,
        })
        const ofAnyCase = pattern.ignoreCase
          ? matches.flatMap((match) => [match, match.toUpperCase()])
          : matches
        for (const match of ofAnyCase) {
          const text = `before ${match} after`
          const reports = await reportsOf([rule], text)
          if (reports.some(({ messageId }) => messageId !== NOT_SECRET))
            expect(rulesFor([rule], searchedOf(text, longWordsIn(text))), text).toEqual([rule])
        }
      }
    })
  }

  test('a text without secrets needs few rules', async () => {
    const rules = await loadPresetRules()
    const text = 'const value = await read(path) // https://example.com/docs/reference'
    expect(rulesFor(rules, searchedOf(text, longWordsIn(text))).length).toBeLessThan(rules.length / 4)
  })
})

test('runs of base64 are those that the expression finds', () => {
  const part = fc.constantFrom(
    'A',
    '+',
    '/',
    '=',
    '\n',
    '\r\n',
    '\\n',
    ' ',
    'é',
    '😀',
    'b'.repeat(4),
    'C'.repeat(23),
    'D'.repeat(30),
  )
  const texts = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''))
  const everywhere = new RegExp(ENCODED.source, 'g')
  fc.assert(
    fc.property(texts, (text) => {
      const expected = [...text.matchAll(everywhere)].map((match) => ({ at: match.index, run: match[0] }))
      expect([...encodedIn(text, longWordsIn(text))]).toEqual(expected)
    }),
    { numRuns: 5_000 },
  )
})

test('long words are those that an expression finds, each with what is before it', () => {
  const part = fc.constantFrom('a', '_', '.', '~', '/', ' ', '"', 'é', '😀', 'b'.repeat(5), 'C'.repeat(19))
  const texts = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      const words = [...text.matchAll(/[\w+/=.~-]{20,}/g)].map(({ 0: word, index }) =>
        text.slice(Math.max(0, index - 8), index + word.length),
      )
      expect(joinedWords(text, longWordsIn(text))).toBe(words.join('\n'))
    }),
    { numRuns: 5_000 },
  )
})

test('assigned values with a digit are those that the pattern finds', () => {
  const rule = OWN_RULES.find(({ ruleId }) => ruleId === 'assigned-secret')
  if (rule === undefined) throw new Error('no such rule')
  const oneOf = (...parts: string[]) => fc.constantFrom(...parts)
  const assignment = fc.tuple(
    oneOf('key', 'TOKEN', 'pass_1', 'pat', 'key_1"', 'x'),
    oneOf('', '"', ' ', '\t', ', "value"', '\nvalue', ' '.repeat(39), '\u0120'),
    oneOf('=', ':', '=>', ', ', ',', '==', '\u013d', '= key:'),
    oneOf('', '"', ' ', ' \\"', "'"),
    oneOf('abcdefgh', 'z'.repeat(190), 'a-b.c', 'token=', 'é', 'key,'),
    oneOf('1', '12345678', '9'.repeat(200), '', 'password:'),
    oneOf(' ', '"', '(', '</', '', ',', ']', ';', '\u0120', '•', '\n'),
  )
  const texts = fc
    .array(assignment, { maxLength: 4 })
    .map((assignments) => assignments.map((parts) => parts.join('')).join(''))
  let count = 0
  fc.assert(
    fc.property(texts, (text) => {
      const withDigit = ({ 2: value = '' }: RegExpExecArray) => /\d/.test(value)
      const expected = [...text.matchAll(rule.pattern)].filter(withDigit)
      const found = [...(rule.matchesIn?.(text, searchedOf(text, longWordsIn(text)).narrow) ?? [])].filter(
        withDigit,
      )
      expect(found.map(({ 0: match, index }) => [match, index])).toEqual(
        expected.map(({ 0: match, index }) => [match, index]),
      )
      count += found.length
    }),
    { numRuns: 200_000 },
  )
  expect(count).toBeGreaterThan(5_000)
})
