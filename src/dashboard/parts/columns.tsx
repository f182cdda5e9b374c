import { useState } from 'preact/hooks'

/** The names of a table's columns that somebody chose in this browser, `usual` unless they did, and what changes them. */
export function useColumns(table: string, usual: readonly string[]) {
  const place = `cloud-analytics-columns-${table}`
  const [chosen, setChosen] = useState<readonly string[]>(() => read(place) ?? usual)
  const choose = (names: readonly string[]) => {
    setChosen(names)
    try {
      localStorage.setItem(place, JSON.stringify(names))
    } catch {
      // then the choice holds for this page
    }
  }
  return { chosen, choose }
}

function read(place: string): string[] | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? 'null')
    return Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : undefined
  } catch {
    return undefined
  }
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
