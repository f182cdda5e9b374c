import { useState } from 'preact/hooks'

// A button that asks before it acts.

interface AskedProps {
  children: string
  question: string
  act: () => Promise<unknown>
  /** Whether it stands apart from other buttons: what it deletes is gone. */
  isApart?: boolean
}

/** A button that acts on the second click. Leaving it takes the first one back. */
export function Asked({ children, question, act, isApart = false }: AskedProps) {
  const [isAsked, setAsked] = useState(false)
  const click = ({ detail }: MouseEvent) => {
    // the second half of a double click confirms nothing
    if (detail > 1) return
    setAsked(!isAsked)
    if (isAsked) void act()
  }
  return (
    <button type="button" class={isApart ? 'apart' : ''} onClick={click} onBlur={() => setAsked(false)}>
      {isAsked ? question : children}
    </button>
  )
}
