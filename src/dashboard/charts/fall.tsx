import type { ComponentChildren } from 'preact'
import { formatDollars, signed } from '../client/format.ts'

// A chart of steps from one sum to another.

export interface Step {
  name: ComponentChildren
  note?: ComponentChildren
  /** Undefined: it is not counted. */
  amount: number | undefined
  isLargest?: boolean
}

interface FallProps {
  title: string
  first: { name: string; note?: string; amount: number }
  steps: readonly Step[]
  last: { name: string; amount: number }
  children?: ComponentChildren
}

const WIDTH = 1_000

/** The way from one amount to another: a row for each step, whose bar begins where that before it ends. */
export function Fall({ title, first, steps, last, children }: FallProps) {
  let at = first.amount
  const spans = steps.map(({ amount = 0 }) => {
    const from = at
    at += amount
    return [from, at] as const
  })
  const all = [first.amount, last.amount, ...spans.flat()]
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const x = (value: number) => (most === least ? 0 : ((value - least) / (most - least)) * (WIDTH - 4))
  const lines = [first.amount, last.amount].map((value, index) => (
    <line key={index} x1={x(value) + 2} x2={x(value) + 2} y1="0" y2="20" />
  ))
  const end = ({ name, note, amount }: FallProps['first']) => (
    <li class="end">
      <p>
        <strong>{name}</strong>
        {note !== undefined && <span class="note">{note}</span>}
      </p>
      <Row lines={lines}>
        <rect class="stop" x={x(amount)} y="3" width="4" height="14" />
      </Row>
      <b>{formatDollars(amount)}</b>
    </li>
  )
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {children}
      <ol class="fall">
        {end(first)}
        {steps.map(({ name, note, amount, isLargest }, index) => {
          const [from = 0, to = 0] = spans[index] ?? []
          const kind = to > from ? 'more' : 'less'
          return (
            <li key={index} class={isLargest ? 'largest' : ''}>
              <p>
                <strong>{name}</strong>
                {note !== undefined && <span class="note">{note}</span>}
              </p>
              <Row lines={lines}>
                {from !== to && (
                  <rect
                    class={kind}
                    x={x(Math.min(from, to))}
                    y="2"
                    width={Math.max(4, x(Math.max(from, to)) - x(Math.min(from, to)))}
                    height="16"
                  />
                )}
              </Row>
              <b class={amount === undefined || Math.abs(amount) < 0.005 ? '' : kind}>
                {amount === undefined ? '–' : signed(amount, formatDollars)}
              </b>
            </li>
          )
        })}
        {end(last)}
      </ol>
    </figure>
  )
}

const Row = ({ lines, children }: { lines: ComponentChildren; children: ComponentChildren }) => (
  <svg viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" aria-hidden="true">
    {lines}
    {children}
  </svg>
)
