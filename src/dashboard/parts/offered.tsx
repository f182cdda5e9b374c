import { useRef, useState } from 'preact/hooks'
import type { Loaded, Page } from '../client/api.ts'
import { formatWhole } from '../client/format.ts'
import { idOrPlace, type KeyOf } from './table.tsx'

/** A list that gets new first rows while it is read keeps those that it shows, and offers the new ones. */
export function useOffered<Row>(loaded: Loaded<Page<Row>>, noun: string, keyOf: KeyOf<Row> = idOrPlace) {
  const shown = useRef<{ key: string | undefined; list: Page<Row> } | undefined>(undefined)
  const [, setTaken] = useState<Page<Row>>()
  if (loaded.state !== 'ready') return { loaded, offer: null }
  const { key, value: list } = loaded
  const before = shown.current
  const count = before === undefined || before.key !== key ? 0 : newRows(before.list, list, keyOf)
  if (before === undefined || count === 0) {
    shown.current = { key, list }
    return { loaded, offer: null }
  }
  const take = () => {
    shown.current = { key, list }
    setTaken(list)
    scrollTo(0, 0)
  }
  const one = noun.replace(/ies$/, 'y').replace(/s$/, '')
  const offer = (
    <button type="button" class="offer" onClick={take}>
      {formatWhole(count)} new {count === 1 ? one : noun}
    </button>
  )
  return { loaded: { ...loaded, value: before.list }, offer }
}

/** The number of rows before the first one that is shown already. */
function newRows<Row>(shown: Page<Row>, list: Page<Row>, keyOf: KeyOf<Row>): number {
  const known = new Set(shown.data.map(keyOf))
  const first = list.data.findIndex((row, index) => known.has(keyOf(row, index)))
  if (known.size === 0) return 0
  return first === -1 ? Math.max(list.data.length, list.pagination.total - shown.pagination.total) : first
}
