import type { ComponentChildren } from 'preact'

/** A figure or a fact of a `<dl>` with its name. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
