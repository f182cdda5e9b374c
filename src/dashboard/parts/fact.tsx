import type { ComponentChildren } from 'preact'

// Facts as pairs of a name and a value.

interface FactsProps {
  /** Few large figures, or many facts. */
  kind: 'totals' | 'facts'
  of: readonly (readonly [name: string, value: ComponentChildren])[]
}

/** Figures or facts with their names; those that are undefined are left out. */
export function Facts({ kind, of }: FactsProps) {
  return (
    <dl class={kind}>
      {of.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
