import { formatScore } from '../client/format.ts'

// A bar that shows a score.

interface BarProps {
  fraction: number
  kind?: string | undefined
}

/** A value as the filled part of a bar, `fraction` 0 to 1. The value itself stands beside it. */
export function Bar({ fraction, kind = 'series0' }: BarProps) {
  return (
    <svg class="bar" width="80" height="8" aria-hidden="true">
      <rect class="track" width="80" height="8" rx="2" />
      <rect class={kind} width={80 * Math.min(1, Math.max(0, fraction))} height="8" rx="2" />
    </svg>
  )
}

export const ScoreBar = ({ score, kind }: { score: number; kind?: string }) => (
  <>
    {formatScore(score)} <Bar fraction={score / 100} kind={kind} />
  </>
)

/** The class of a score of which high is good. */
export const goodness = (score: number): string => (score >= 80 ? 'good' : score >= 50 ? 'fair' : 'bad')
