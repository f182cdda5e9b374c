import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dangerousActionsIn, dangerousSql } from '../../../src/analysis/detection/dangerous-actions.ts'
import { ENCODED, encodedIn } from '../../../src/analysis/detection/encoded-secrets.ts'
import { invocationsOf, invocationsOfList } from '../../../src/analysis/detection/invocations.ts'
import { longWordsIn } from '../../../src/analysis/detection/long-words.ts'
import { searchedOf } from '../../../src/analysis/detection/prepare-text.ts'
import {
  loadPresetRules,
  NEEDED,
  NEEDED_WORDS,
  reportsOf,
  rulesFor,
} from '../../../src/analysis/detection/preset-rules.ts'
import { OWN_RULES, ownFindings } from '../../../src/analysis/detection/secret-rules.ts'
import { findSecrets } from '../../../src/analysis/detection/secrets.ts'
import { patternsOf, withoutConditions } from './preset-patterns.ts'

const LENGTH = 120_000
/** Most texts take 0.3 ms, the slowest 15; an expression of quadratic time takes seconds. */
const LIMIT_MS = 100
/** Limit for the scripts below, which are shorter and are parsed: they take 100 ms at most. */
const SCRIPT_LIMIT_MS = 1_500
/** The shortest of these counts: others compile code or collect garbage in the meantime. */
const TRIES = 3

/** A part of detection, what it runs on a text, and the expressions that texts are generated from. */
interface Subject {
  name: string
  run: (text: string) => unknown
  patterns: RegExp[]
}

async function subjects(): Promise<Subject[]> {
  const own = OWN_RULES.map(
    (rule): Subject => ({
      name: rule.ruleId,
      run: (text) => [...ownFindings(rule, text)],
      // its expression is only the middle of a token
      patterns: [
        rule.ruleId === 'json-web-token' ? /ey[\w-]{17,}\.ey[\w/-]{17,}\.[\w/-]{10,}/ : rule.pattern,
      ],
    }),
  )
  const rules = await loadPresetRules()
  const preset = rules.map(
    async (rule): Promise<Subject> => ({
      name: rule.meta.id,
      run: (text) => reportsOf([rule], text),
      patterns: await patternsOf(rule),
    }),
  )
  const encoded = {
    name: 'base64',
    run: (text: string) => [...encodedIn(text, longWordsIn(text))],
    patterns: [ENCODED],
  }
  const needed = {
    name: 'what rules need',
    run: (text: string) => rulesFor(rules, searchedOf(text, longWordsIn(text))),
    patterns: [...NEEDED, ...NEEDED_WORDS].flatMap(([need]) => (need instanceof RegExp ? need : [])),
  }
  return [...own, ...(await Promise.all(preset)), encoded, needed]
}

/** The text repeated, `LENGTH` characters in all. */
const repeated = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH)

/**
 * Long texts that an expression may be slow on: beginnings of texts that match, repeated with a character between
 * them that goes on with a match or ends it, or followed by one character only.
 */
function worstCases(pattern: RegExp): Set<string> {
  const cases = new Set<string>()
  for (const match of fc.sample(fc.stringMatching(new RegExp(withoutConditions(pattern))), {
    numRuns: 2,
    seed: 7,
  })) {
    for (const part of [0.2, 0.5, 0.8, 1]) {
      const beginning = match.slice(0, Math.ceil(match.length * part))
      if (beginning === '') continue
      for (const between of ['', ' ', '-', '_', '.']) cases.add(repeated(beginning + between))
      for (const rest of ['a', beginning.at(-1) ?? '']) cases.add(beginning + repeated(rest))
    }
  }
  return cases
}

/** Processor time, so that other processes do not count. */
const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

async function expectLinear(run: (text: string) => unknown, text: string, limitMs = LIMIT_MS): Promise<void> {
  let tookMs = Infinity
  for (let tries = 0; tries < TRIES && tookMs > limitMs; tries += 1) {
    const start = processorMs()
    await run(text)
    tookMs = Math.min(tookMs, processorMs() - start)
  }
  expect(tookMs, `the text ${JSON.stringify(text.slice(0, 80))}…`).toBeLessThan(limitMs)
}

describe('secrets are searched for in linear time', async () => {
  for (const { name, run, patterns } of await subjects()) {
    test(`${name}: generated worst cases`, async () => {
      for (const pattern of patterns) for (const text of worstCases(pattern)) await expectLinear(run, text)
    }, 360_000)
  }

  test('a text full of one secret: all are found', async () => {
    const unit = 'AKIAIOSFODNN7ABCDEFG '
    const count = 47_000
    const found = await findSecrets(unit.repeat(count))
    expect(found.map(({ start }) => start)).toEqual(Array.from({ length: count }, (_, n) => n * unit.length))
  })

  test('a text of one line that is not Latin: the line of each secret is found', async () => {
    const start = processorMs()
    const found = await findSecrets(`…${'AKIAIOSFODNN7ABCDEFG '.repeat(190_000)}`)
    expect(found).toHaveLength(190_000)
    expect(processorMs() - start).toBeLessThan(15_000)
  }, 360_000)

  test('a text full of base64: every run is decoded', async () => {
    const count = 30_000
    const unit = `${Buffer.from('AKIAIOSFODNN7ABCDEFG').toString('base64')}\t`
    const found = await findSecrets(unit.repeat(count))
    expect(found.map(({ start }) => start)).toEqual(Array.from({ length: count }, (_, n) => n * unit.length))
  })
})

describe('dangerous actions are searched for in linear time', () => {
  const scripts: Record<string, string> = {
    'a long flag': `git commit -${'n'.repeat(60_000)}1`,
    'a long flag of a shell': `sh -${'c'.repeat(60_000)}1`,
    'a long mode': `chmod ${'a'.repeat(60_000)} file`,
    'nested substitutions': '$('.repeat(30_000),
    'nested backquotes': '`'.repeat(60_000),
    'nested groups': '('.repeat(60_000),
    'pipelines of shells': 'echo x | sh '.repeat(5_000),
    'here-documents without an end': 'cat << end\n'.repeat(5_000),
    'open quotes': `'"`.repeat(30_000),
    wrappers: 'sudo env '.repeat(7_000),
    'find in find': 'find . -exec '.repeat(5_000),
    redirections: '>'.repeat(60_000),
    'paths of keys': `cat ${`${'cert'.repeat(70)}.pem `.repeat(200)}`,
  }
  for (const [name, script] of Object.entries(scripts))
    test(name, () => expectLinear((text) => dangerousActionsIn(invocationsOf(text)), script, SCRIPT_LIMIT_MS))

  test('long arguments of a list', () =>
    expectLinear(
      (text) => dangerousActionsIn(invocationsOfList(['git', 'commit', `-${text}1`])),
      repeated('n'),
    ))

  for (const unit of ['/*', "'", '--', 'drop ', 'truncate ', 'truncate\t', '"', "/*'"])
    test(`SQL of ${JSON.stringify(unit)}`, () => expectLinear(dangerousSql, repeated(unit)))
})
