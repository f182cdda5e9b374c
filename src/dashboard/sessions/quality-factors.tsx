import type { QualityMetadata } from '../../features/sessions/model.ts'
import { countOf, formatNumber, formatScore, signed } from '../client/format.ts'
import { Table } from '../parts/table.tsx'
import { Bar, goodness } from '../parts/values.tsx'
import { type Factor, raisingOf, saidOutcome } from './session-words.ts'

/** Says what a factor counted. Factors that a client of its own sends have other names and no words. */
const WORDS: Readonly<Record<string, (count: number) => string>> = {
  tool_errors: (count) => `${countOf(count, 'tool call')} failed`,
  rejections: (count) => `${countOf(count, 'edit or command', 'edits or commands')} refused by the person`,
  interruptions: (count) => `stopped ${countOf(count, 'time')} by the person`,
  rework: (count) => `${formatNumber(count)} ${count === 1 ? 'edit' : 'edits'} to each edited file`,
  api_errors: (count) => `${countOf(count, 'error')} of the model’s service`,
  compactions: (count) => `the context was full ${countOf(count, 'time')}`,
  outcome: saidOutcome,
  clean_tool_use: (count) => `${countOf(count, 'tool call')} succeeded`,
}

/** Sentences by the class of a score. */
const SMOOTHNESS: Readonly<Record<string, string>> = {
  good: 'It went smoothly',
  fair: 'It went with some friction',
  bad: 'It went with much friction',
}

/** A session's score: what it rests on, and what would raise it. */
export function QualityFactors({ quality }: { quality: QualityMetadata }) {
  const raising = raisingOf(quality.factors)
  const worst = quality.factors.filter(({ points }) => points < 0).sort((a, b) => a.points - b.points)[0]
  return (
    <section>
      <h2>
        Quality: {formatScore(quality.score)} of 100{' '}
        <Bar fraction={quality.score / 100} kind={goodness(quality.score)} />
      </h2>
      <p>
        {SMOOTHNESS[goodness(quality.score)]}
        {worst !== undefined && (
          <>
            ; {factorText(worst)}, which took {formatScore(-worst.points)} points, more than anything else
          </>
        )}
        .
      </p>
      {raising.length > 0 && (
        <p>
          What would raise it most:{' '}
          {raising.map(([what, gain]) => `${what} (up to ${signed(gain, formatScore)})`).join(', ')}.
        </p>
      )}
      <p class="note">
        How smoothly the session went: errors, rework, interruptions. It does not measure the code.{' '}
        {formatScore(quality.base)} to begin with, and the points of each factor; at least 0, at most 100.
        Points count less where a session has few tool calls.
        {quality.previous_score !== null && ` Before the last sync: ${formatScore(quality.previous_score)}.`}
      </p>
      <Table
        caption="Factors of the quality score"
        rows={quality.factors}
        keyOf={({ name }, index) => `${name}${index}`}
        columns={[
          { name: 'Factor', cell: ({ name }) => name.replaceAll('_', ' ') },
          { name: 'What was seen', phone: 'also', cell: factorText },
          {
            name: 'Points',
            number: ({ points }) => (
              <span class={points < 0 ? 'bad' : points > 0 ? 'good' : ''}>{signed(points, formatScore)}</span>
            ),
          },
          { name: 'At most', number: ({ weight }) => signed(weight, formatScore) },
        ]}
      />
    </section>
  )
}

const factorText = ({ name, count }: Factor): string => WORDS[name]?.(count) ?? formatNumber(count)
