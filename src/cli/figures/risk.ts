import { type Rating, RiskListQuery, type RiskPage, type RiskScore } from '../../features/risk/model.ts'
import type { Colour, Column } from '../command/table.ts'
import { pageText } from './figure-text.ts'
import { whole } from './numbers.ts'
import { dayOfTime, isFiltered } from './options.ts'
import { figure, type View } from './source.ts'

/** `risk`: a page of the pull requests, newest first. */
export const showRisk = figure<RiskPage>({
  path: '/risk',
  query: RiskListQuery,
  text: (page, view) =>
    pageText(view, page, {
      heading: 'Risk of pull requests, newest first; 0 to 100, high is bad',
      columns: COLUMNS,
      bars: {
        fraction: ({ risk_score }) => risk_score / 100,
        colour: ({ rating }) => COLOUR_OF_RATING[rating],
      },
      what: 'pull requests',
      none: noRisks(view),
    }),
})

const COLOUR_OF_RATING: Readonly<Record<Rating, Colour>> = {
  low: 'green',
  medium: 'yellow',
  high: 'red',
  critical: 'red',
}

const part = (head: string, value: (item: RiskScore) => number, spare: number): Column<RiskScore> => ({
  head,
  value: (item) => value(item).toFixed(0),
  right: true,
  spare,
})

const COLUMNS: readonly Column<RiskScore>[] = [
  { head: 'REPOSITORY', value: ({ repo }) => repo, least: 8 },
  { head: 'PR', value: ({ pr_number }) => pr_number, right: true },
  { head: 'TITLE', value: ({ pr_title }) => pr_title, least: 12 },
  { head: 'OPENED', value: ({ created_at }) => dayOfTime(created_at), spare: 1 },
  { head: 'FILES', value: ({ files_changed }) => whole(files_changed), right: true, spare: 2 },
  part('IMPACT', ({ impact_score }) => impact_score, 3),
  part('REGRESSION', ({ regression_score }) => regression_score, 6),
  part('SECURITY', ({ security_score }) => security_score, 4),
  part('COUPLING', ({ coupling_score }) => coupling_score, 5),
  { head: 'RATING', value: ({ rating }) => rating, colour: ({ rating }) => COLOUR_OF_RATING[rating] },
  { head: 'RISK', value: ({ risk_score }) => risk_score, right: true },
]

function noRisks({ source: { words }, parameters }: View): string {
  if (isFiltered(parameters))
    return `no pull requests match\n  without the filters:  cloud-analytics risk${words}`
  return [
    'no risk scores of pull requests',
    `  their history first:  cloud-analytics sync ~/code/checkout${words}`,
    '  then their records:   pr_risk, by POST /v1/sync or cloud-analytics import (docs/risk.md)',
  ].join('\n')
}
