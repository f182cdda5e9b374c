// A chart of steps from one sum to another (a waterfall), for causes of a change of cost.

import type { ComponentChildren } from 'preact'
import { formatDollars, signed } from '../client/format.ts'

interface Named {
  name: string
  note?: ComponentChildren
}

export interface Step extends Named {
  /** Undefined: it is not counted. */
  amount: number | undefined
  isLargest?: boolean
}

interface FallProps {
  title: string
  first: Named & { amount: number }
  steps: readonly Step[]
  last: Named & { amount: number }
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
  const row = (kind: string, { name, note }: Named, bar: ComponentChildren, amount: ComponentChildren) => (
    <li key={name} class={kind}>
      <p>
        <strong>{name}</strong>
        {note !== undefined && <span class="note">{note}</span>}
      </p>
      <svg viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" aria-hidden="true">
        {lines}
        {bar}
      </svg>
      {amount}
    </li>
  )
  const end = ({ amount, ...labels }: FallProps['first']) =>
    row(
      'end',
      labels,
      <rect class="stop" x={x(amount)} y="3" width="4" height="14" />,
      <b>{formatDollars(amount)}</b>,
    )
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {children}
      <ol class="fall">
        {end(first)}
        {steps.map((step, index) => {
          const [from, to] = spans[index] ?? [0, 0]
          const [left, right] = [x(Math.min(from, to)), x(Math.max(from, to))]
          const kind = to > from ? 'more' : 'less'
          const { amount, isLargest } = step
          return row(
            isLargest ? 'largest' : '',
            step,
            from !== to && <rect class={kind} x={left} y="2" width={Math.max(4, right - left)} height="16" />,
            <b class={amount === undefined || Math.abs(amount) < 0.005 ? '' : kind}>
              {amount === undefined ? '–' : signed(amount, formatDollars)}
            </b>,
          )
        })}
        {end(last)}
      </ol>
    </figure>
  )
}
