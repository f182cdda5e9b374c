import { useState } from 'preact/hooks'
import { storedAs } from '../client/storage.ts'

/** The names of a table's columns that somebody chose in this browser, `usual` unless they did, and what changes them. */
export function useColumns(table: string, usual: readonly string[]) {
  const stored = storedAs(`cloud-analytics-columns-${table}`, () => localStorage)
  const [chosen, setChosen] = useState<readonly string[]>(() => stored.read()?.split(',') ?? usual)
  const choose = (names: readonly string[]) => {
    setChosen(names)
    stored.write(names.join())
  }
  return { chosen, choose }
}

interface ChooserProps {
  /** All that can be chosen. */
  names: readonly string[]
  chosen: readonly string[]
  choose: (names: readonly string[]) => void
}

/** A checklist of columns. */
export function ColumnChooser({ names, chosen, choose }: ChooserProps) {
  return (
    <details class="columns">
      <summary>Columns</summary>
      <fieldset>
        <legend class="hidden">Columns</legend>
        {names.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ currentTarget: { checked } }) =>
                choose(checked ? [...chosen, name] : chosen.filter((other) => other !== name))
              }
            />
            {name}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
