// Tells pages that the organization's data have changed, and keeps the reader's place while they load again what they show.

const listeners = new Set<() => void>()

/** Calls `listener` when what is shown may be out of date. Returns what ends it. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Calls all listeners. */
export function tellChange(): void {
  for (const listener of listeners) listener()
}

let at = { x: -1, y: -1 }
export const notePointer = ({ clientX, clientY }: PointerEvent): void => {
  at = { x: clientX, y: clientY }
}

/** Runs `change`, which draws the page again, and scrolls by as much as that moved what the pointer is on. */
export function keepPlace(change: () => void): void {
  const pointed = document.elementFromPoint(at.x, at.y)
  const topOf = () => pointed?.getBoundingClientRect().top ?? 0
  const before = topOf()
  change()
  requestAnimationFrame(() => {
    if (pointed?.isConnected !== true) return
    const moved = topOf() - before
    if (Math.abs(moved) < 1) return
    const { body } = document
    body.style.minHeight = `${Math.max(body.scrollHeight, scrollY + moved + innerHeight)}px`
    scrollBy(0, moved)
  })
}

let loadedAt = Date.now()
export const noteLoaded = (): void => {
  loadedAt = Date.now()
}
export const secondsSinceLoaded = (): number => Math.max(0, Math.round((Date.now() - loadedAt) / 1000))
