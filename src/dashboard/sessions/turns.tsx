import { useEffect, useState } from 'preact/hooks'
import type { TurnDetail } from '../../features/sessions/model.ts'
import { formatCompact, formatParts, formatWhole } from '../client/format.ts'
import { useHere } from '../client/router.ts'
import { Button } from '../parts/form.tsx'
import { Table } from '../parts/table.tsx'
import { orUnknown, textColumn, timeColumn } from '../parts/values.tsx'

/** Turns of a session that are drawn at once; a click shows the rest in steps of as many. */
const TURNS = 50

export function Turns({ turns }: { turns: readonly TurnDetail[] }) {
  // a finding links to its turn
  const turn = useHere().query.get('turn')
  const wanted = turns.findIndex(({ turn_number }) => String(turn_number) === turn)
  const [shown, setShown] = useState(TURNS)
  useEffect(() => {
    if (wanted === -1) return
    setShown((before) => Math.max(before, (Math.floor(wanted / TURNS) + 1) * TURNS))
    requestAnimationFrame(() =>
      document.getElementById(`turn-${turns[wanted]?.turn_number}`)?.scrollIntoView({ block: 'center' }),
    )
  }, [wanted])
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
