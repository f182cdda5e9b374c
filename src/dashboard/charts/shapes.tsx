/** Shapes of points and of marks in legends, beside colours, each in a square of 10: who does not tell the colours apart tells these. */
const SHAPES = [
  'M5 0a5 5 0 1 1 0 10a5 5 0 1 1 0-10z',
  'M.5 .5h9v9h-9z',
  'M5 0L10 9.5H0z',
  'M5 0L10 5L5 10L0 5z',
  'M0 .5H10L5 10z',
  'M3.5 0h3v3.5H10v3H6.5V10h-3V6.5H0v-3h3.5z',
  'M0 3.5h10v3H0z',
  'M0 0L10 10V0L0 10z',
  'M5 0L10 4L8 10H2L0 4z',
] as const

interface ShapeProps {
  of: number
  /** Its middle, in a drawing. */
  x: number
  y: number
  size?: number
  /** A class of the style sheet, else a colour. */
  kind?: string | undefined
  fill?: string | undefined
}

/** A shape in a drawing. */
export const Shape = ({ of, x, y, size = 10, kind, fill }: ShapeProps) => (
  <path
    class={kind && `shape ${kind}`}
    fill={fill}
    d={SHAPES[of]}
    transform={`translate(${x - size / 2} ${y - size / 2}) scale(${size / 10})`}
  />
)

/** A shape in a text or legend; without a class it has the colour of its number. */
export const Swatch = ({ of, kind }: Pick<ShapeProps, 'of' | 'kind'>) => (
  <svg width="10" height="10" aria-hidden="true">
    <Shape {...{ of, kind, x: 5, y: 5 }} {...(kind === undefined && { fill: `var(--s${of})` })} />
  </svg>
)

type Marked = { name: string; kind: string; of: number }

/** Marks in a legend. */
export const Marks = ({ of: marks }: { of: readonly Marked[] }) =>
  marks.map(({ name, kind, of }) => (
    <li key={name}>
      <Swatch {...{ of, kind }} />
      {name}
    </li>
  ))
