// The turns of a session in order, as a chart and a list: cost by model, tools, what failed and was found.

import { useEffect, useState } from 'preact/hooks'
import type { Finding, TurnDetail } from '../../features/sessions/model.ts'
import { PeriodChart, type Series } from '../charts/period-chart.tsx'
import {
  formatCompact,
  formatDollars,
  formatDuration,
  formatParts,
  formatShare,
  formatWhole,
} from '../client/format.ts'
import { useHere } from '../client/router.ts'
import { Button } from '../parts/form.tsx'
import { Table } from '../parts/table.tsx'
import { orUnknown, textColumn, timeColumn, UNKNOWN } from '../parts/values.tsx'

/** More turns share bars, as many each. */
const MAX_BARS = 90
/** Models with a colour of their own. */
const MODELS = 5

export function Timeline({
  turns,
  findings,
}: {
  turns: readonly TurnDetail[]
  findings: readonly Finding[]
}) {
  if (turns.length < 2) return null
  const size = Math.ceil(turns.length / MAX_BARS)
  const bars = Array.from({ length: Math.ceil(turns.length / size) }, (_, index) =>
    turns.slice(index * size, (index + 1) * size),
  )
  const barSum = (bar: readonly TurnDetail[], pick: (turn: TurnDetail) => number) =>
    bar.reduce((sum, turn) => sum + pick(turn), 0)
  const barCost = (bar: readonly TurnDetail[]) => barSum(bar, ({ cost }) => cost ?? 0)
  const byModel = [...Map.groupBy(turns, ({ model }) => model ?? UNKNOWN)]
    .map(([name, calls]) => ({ name, cost: barCost(calls) }))
    .filter(({ cost }) => cost > 0)
    .sort((a, b) => b.cost - a.cost)
  const names = byModel.slice(0, MODELS).map(({ name }) => name)
  const series: Series[] = names.map((name) => ({
    name,
    values: bars.map((bar) => barCost(bar.filter(({ model }) => (model ?? UNKNOWN) === name))),
  }))
  if (byModel.length > MODELS) {
    const isRest = ({ model }: TurnDetail) => !names.includes(model ?? UNKNOWN)
    series.push({ name: '(others)', isRest: true, values: bars.map((bar) => barCost(bar.filter(isRest))) })
  }
  const counts = new Map<number, number>()
  for (const { turn_number: at } of findings) if (at !== null) counts.set(at, (counts.get(at) ?? 0) + 1)
  const began = Date.parse(turns.find(({ started_at }) => started_at !== null)?.started_at ?? '')
  const after = (bar: readonly TurnDetail[]) => {
    const at = bar.find(({ started_at }) => started_at !== null)?.started_at
    return at == null
      ? UNKNOWN
      : `${formatDuration(Math.max(0, Math.round((Date.parse(at) - began) / 1000)))}`
  }
  const toolsOf = (bar: readonly TurnDetail[]) => {
    const calls = Map.groupBy(
      bar.flatMap(({ tool_calls }) => tool_calls),
      ({ name }) => name,
    )
    return (
      [...calls].map(([name, { length }]) => (length === 1 ? name : `${name} ×${length}`)).join(', ') ||
      UNKNOWN
    )
  }
  const total = barCost(turns)
  const [dearest] = bars.toSorted((a, b) => barCost(b) - barCost(a))
  const barLabel = (bar: readonly TurnDetail[]) => {
    const [first, last] = [bar[0]?.turn_number, bar.at(-1)?.turn_number]
    return first === last ? `Turn ${first}` : `Turns ${first}–${last}`
  }
  return (
    <>
      {dearest !== undefined && total > 0 && (
        <p>
          {barLabel(dearest)} cost most: {formatDollars(barCost(dearest))},{' '}
          {formatShare(barCost(dearest) / total)} of the session.
        </p>
      )}
      <PeriodChart
        title="Where the money went"
        description="A bar for each turn, in their order: what it cost by model, with the tools that failed and what was found."
        of="Turn"
        periods={bars.map(barLabel)}
        series={series.length === 0 ? [{ name: 'Cost', values: bars.map(() => 0) }] : series}
        also={[
          { name: 'After', values: bars.map(after) },
          {
            name: 'Tokens',
            values: bars.map((bar) =>
              formatCompact(
                barSum(bar, ({ tokens: t }) =>
                  t === null ? 0 : t.input + t.output + t.cache_read + t.cache_creation,
                ),
              ),
            ),
          },
          { name: 'Tools', values: bars.map(toolsOf) },
        ]}
        flags={[
          {
            name: 'Failed tools',
            kind: 'high',
            values: bars.map((bar) =>
              barSum(bar, ({ tool_calls }) => tool_calls.filter(({ ok }) => ok === false).length),
            ),
          },
          {
            name: 'Findings',
            kind: 'critical',
            values: bars.map((bar) => barSum(bar, ({ turn_number }) => counts.get(turn_number) ?? 0)),
          },
        ].filter(({ values }) => values.some((value) => value > 0))}
      />
    </>
  )
}

/** Turns of a session that are drawn at once; a click shows the rest in steps of as many. */
const TURNS = 50

export function Turns({ turns }: { turns: readonly TurnDetail[] }) {
  // a finding links to its turn
  const turn = useHere().query.get('turn')
  const index = turns.findIndex(({ turn_number }) => String(turn_number) === turn)
  const [shown, setShown] = useState(TURNS)
  useEffect(() => {
    if (index === -1) return
    setShown((before) => Math.max(before, (Math.floor(index / TURNS) + 1) * TURNS))
    requestAnimationFrame(() =>
      document.getElementById(`turn-${turns[index]?.turn_number}`)?.scrollIntoView({ block: 'center' }),
    )
  }, [index])
  if (turns.length === 0) return null
  return (
    <section>
      <h2>Turns</h2>
      <Table
        caption="Turns"
        rows={turns.slice(0, shown)}
        keyOf={({ turn_number }, index) => `turn-${turn_number}-${index}`}
        columns={[
          {
            name: 'Turn',
            number: ({ turn_number }) => (
              <span id={`turn-${turn_number}`} class={String(turn_number) === turn ? 'wanted' : ''}>
                {turn_number}
              </span>
            ),
          },
          { ...textColumn('Role', 'role'), phone: 'also' },
          textColumn('Model', 'model'),
          timeColumn('At', 'started_at'),
          {
            name: 'In',
            number: ({ tokens }) =>
              orUnknown(tokens, ({ input, cache_read, cache_creation }) =>
                formatCompact(input + cache_read + cache_creation),
              ),
          },
          { name: 'Out', number: ({ tokens }) => orUnknown(tokens, ({ output }) => formatCompact(output)) },
          {
            name: 'Cost',
            phone: 'main',
            // tokens without a known price cost something
            number: ({ cost, tokens }) =>
              cost === null && tokens !== null ? 'not known' : orUnknown(cost, formatParts),
          },
          {
            name: 'Tools',
            phone: 'also',
            cell: ({ tool_calls }) =>
              tool_calls.map(({ name, ok }) => (ok === false ? `${name} (failed)` : name)).join(', '),
          },
        ]}
      />
      {turns.length > shown && (
        <Button act={() => setShown(shown + TURNS)}>Show more of {formatWhole(turns.length)} turns</Button>
      )}
    </section>
  )
}
