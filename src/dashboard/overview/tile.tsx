import type { ComponentChildren } from 'preact'

interface TileProps {
  name: string
  /** The reader finds more there. */
  href: string
  value: string
  /** Stands behind the value. */
  unit: string
  /** Says more of it. */
  children: ComponentChildren
}

/** One figure of the overview. */
export const Tile = ({ name, href, value, unit, children }: TileProps) => (
  <a class="tile" href={href}>
    <h2>{name}</h2>
    <p class="value">
      {value} <small>{unit}</small>
    </p>
    <p class="note">{children}</p>
  </a>
)
