import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ENCODED, encodedIn } from '../../../src/analysis/detection/encoded-secrets.ts'
import { joinedWords, longWordsIn } from '../../../src/analysis/detection/long-words.ts'
import { searchedOf } from '../../../src/analysis/detection/prepare-text.ts'
import { loadPresetRules, reportsOf, rulesFor } from '../../../src/analysis/detection/preset-rules.ts'
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
