import { type loadPresetRules, reportsOf } from '../../../src/analysis/detection/preset-rules.ts'

type Rule = Awaited<ReturnType<typeof loadPresetRules>>[number]

/** The expressions that a rule of the preset searches a text for. */
export async function patternsOf(rule: Rule): Promise<RegExp[]> {
  const patterns: RegExp[] = []
  // a text that only notes what it is searched for
  const noting = Object.assign(Object(''), {
    matchAll(pattern: RegExp) {
      patterns.push(pattern)
      return []
    },
  })
  await reportsOf([rule], noting)
  return patterns
}

/** The expression without conditions on what surrounds a match, which do not change what it consists of. */
export const withoutConditions = ({ source }: RegExp): string =>
  source
    .replaceAll(/\(\?<?!(?:\\.(?:\{\w+\})?|\[[^\]]*\]|[^)[\\])*\)|\\b/g, '')
    .replaceAll(/\(\?<\w+>/g, '(?:')
