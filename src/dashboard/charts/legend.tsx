import { NamedLink } from '../parts/link.tsx'
export interface Named {
  name: string
  /** A click on the name goes there. */
  href?: string | undefined
  /** Whether it stands for all that have no name here. */
  isRest?: boolean
}

/** The colour of a series: by its place, the rest in grey. */
export const colorOf = ({ isRest }: Named, index: number): string => `var(--s${isRest === true ? 6 : index})`

interface LegendProps {
  names: readonly Named[]
  limit?: string | undefined
  /** Marks by their class. */
  flags?: readonly { name: string; kind: string }[]
}

/** The names of a chart's series with their colours, of its marks, and of the line across it. */
export function Legend({ names, limit, flags = [] }: LegendProps) {
  return (
    <ul class="legend">
      {names.map(({ name, href, isRest = false }, index) => (
        <li key={index}>
          <svg width="10" height="10" aria-hidden="true">
            <rect fill={colorOf({ name, isRest }, index)} width="10" height="10" rx="2" />
          </svg>
          {href === undefined ? <bdi>{name}</bdi> : <NamedLink to={href}>{name}</NamedLink>}
        </li>
      ))}
      {flags.map(({ name, kind }) => (
        <li key={name}>
          <svg width="10" height="10" aria-hidden="true">
            <circle class={kind} cx="5" cy="5" r="4" />
          </svg>
          {name}
        </li>
      ))}
      {limit !== undefined && (
        <li>
          <svg class="limit" width="16" height="10" aria-hidden="true">
            <line x2="16" y1="5" y2="5" />
          </svg>
          {limit}
        </li>
      )}
    </ul>
  )
}
