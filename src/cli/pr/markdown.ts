import type { Component } from '../../analysis/records/risk.ts'
import { COMPONENTS, scoreField } from '../../analysis/records/risk.ts'
import { plural } from '../../base/text.ts'
import type { RiskDetail } from '../../features/risk/model.ts'

/** The Markdown of `pr` begins with this marker, by which a later run finds its comment. */
export const MARKER = '<!-- cloud-analytics pr -->'

const MOST = 3
const TITLES: Readonly<Record<Component, string>> = {
  impact: 'Impact',
  regression: 'Regression',
  security: 'Security',
  coupling: 'Coupling',
}

/** A text from elsewhere as Markdown: in a code span it is nothing but text. */
const code = (text: string): string => `\`${text.replaceAll(/[`\r\n]/g, ' ').replaceAll('|', '\\|')}\``

/** Risk with its reasons, and the sessions with what they cost, in a few lines. */
export function markdownOf(risk: RiskDetail): string {
  const { sessions, effective_lines, ai_lines, ai_share } = risk
  const rows = COMPONENTS.map((part) => {
    const reasons = [...risk.contributions[part]]
      .filter(({ points }) => points !== 0)
      .sort((a, b) => Math.abs(b.points) - Math.abs(a.points))
      .slice(0, MOST)
      .map(({ name, points }) => `${code(name)} ${points > 0 ? '+' : ''}${points}`)
    return `| ${TITLES[part]} | ${risk[scoreField(part)]} | ${reasons.join(', ') || 'nothing'} |`
  })
  const worked =
    sessions.count === 0
      ? 'No AI coding session is known to have worked on it.'
      : `${plural(sessions.count, 'AI coding session')} worked on it: **$${sessions.cost.toFixed(2)}**, quality ${sessions.average_quality}, ${plural(sessions.findings, 'security finding')}.`
  const written =
    // an earlier server does not say it
    ai_share === null || ai_share === undefined
      ? 'Which of its lines agents wrote is not known.'
      : `Agents wrote ${ai_lines} of its ${effective_lines} effective lines (**${Math.round(ai_share * 100)} %**).`
  return [
    MARKER,
    `### Risk ${risk.risk_score} of 100: ${risk.rating}`,
    '',
    '| part | score | why |',
    '|---|--:|---|',
    ...rows,
    '',
    worked,
    written,
  ].join('\n')
}
