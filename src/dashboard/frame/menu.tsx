// A button that opens a menu: that of the organization in the header, and those of the bar.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useFragment } from '../client/router.ts'

interface MenuProps {
  /** A class of the style sheet. */
  kind?: string
  /** Stands on the button. */
  title: ComponentChildren
  children: ComponentChildren
}

/** A button that opens a box; Escape, a click elsewhere and another address close it. */
export function Menu({ kind = '', title, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const fragment = useFragment()
  useEffect(() => menu.current?.removeAttribute('open'), [fragment])
  useEffect(() => {
    const close = (event: Event) => {
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape'
      const isElsewhere = event.type === 'click' && !menu.current?.contains(event.target as Node)
      if (!isEscape && !isElsewhere) return
      if (isEscape && menu.current?.contains(document.activeElement))
        menu.current.querySelector('summary')?.focus()
      menu.current?.removeAttribute('open')
    }
    addEventListener('keydown', close)
    addEventListener('click', close)
    return () => {
      removeEventListener('keydown', close)
      removeEventListener('click', close)
    }
  }, [])
  return (
    <details class={`menu ${kind}`} ref={menu}>
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  )
}
