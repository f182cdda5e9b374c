// A chart of pull requests as points.

import type { Rating, RiskScore } from '../../features/risk/model.ts'
import { countOf, formatDollars } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { MARGIN, Scale, scaleTo } from './axes.tsx'
import { Figure } from './figure.tsx'
import { Marks, Shape } from './shapes.tsx'
import { ticksTo } from './ticks.ts'

/** Each has a colour and a shape of its own. */
export const RATINGS: readonly Rating[] = ['critical', 'high', 'medium', 'low']
const HEIGHT = 300
const MAX_RISK = 100
/** The names of the axis are below its figures. */
const NAMES = 14

/** The cost of pull requests (to the right) against their risk (upwards). */
export function RiskChart({ data }: { data: readonly RiskScore[] }) {
  const costs = ticksTo(Math.max(0, ...data.map(({ cost = 0 }) => cost)), 5)
  const maxCost = costs.at(-1) ?? 1
  const { ticks, y } = scaleTo(MAX_RISK, HEIGHT - NAMES)
  const rightOf = (width: number) => width - MARGIN.right - 12
  const across = (width: number) => (cost: number) =>
    MARGIN.left + (cost / maxCost) * (rightOf(width) - MARGIN.left)
  const draw = (width: number) => {
    const right = rightOf(width)
    const x = across(width)
    return (
      <>
        <g class="axes">
          <Scale right={right} ticks={ticks} y={y} format={String} />
          {costs.map((tick) => (
            <text key={tick} x={x(tick)} y={HEIGHT - NAMES - MARGIN.bottom + 16} text-anchor="middle">
              {formatDollars(tick)}
            </text>
          ))}
          <text x={right} y={HEIGHT - 4} text-anchor="end">
            Cost of the sessions →
          </text>
          <text x={MARGIN.left + 4} y={MARGIN.top + 12}>
            ↑ Risk
          </text>
        </g>
        {data.map(({ id, rating, cost = 0, risk_score }) => (
          <Shape
            key={id}
            kind={`dot ${rating}`}
            of={RATINGS.indexOf(rating)}
            x={x(cost)}
            y={y(risk_score)}
            size={12}
          />
        ))}
      </>
    )
  }
  return (
    <Figure
      title="Risk against cost"
      description={`Each point is one of ${countOf(data.length, 'pull request')}: to the right what its sessions cost, upwards its risk score.`}
      of="Item"
      height={HEIGHT}
      draw={draw}
      isPlane
      legend={
        <ul class="legend">
          <Marks of={RATINGS.map((kind, of) => ({ name: kind, kind, of }))} />
        </ul>
      }
      marks={(width) =>
        data.map(({ id, repo, pr_number, pr_title, cost = 0, risk_score }) => ({
          x: across(width)(cost),
          y: y(risk_score),
          title: `${repo}#${pr_number} ${pr_title}`,
          lines: [
            ['Risk', String(risk_score)],
            ['Cost of the sessions', formatDollars(cost)],
          ],
          href: linkTo('pull-requests', {}, id),
        }))
      }
    />
  )
}
