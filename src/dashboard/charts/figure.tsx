// The frame of all charts: title, description, and their values beside the pointer and as a table.

import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Table } from '../parts/table.tsx'
import { Swatch } from './shapes.tsx'

/** A place of a chart that has something to say. */
interface Mark {
  /** In pixels of the drawing. */
  x: number
  y: number
  title: string
  /** `isNone`: only the table says it. */
  lines: readonly (readonly [name: string, value: string, isNone?: boolean, shape?: number | undefined])[]
  /** A click, a second tap or Enter goes there. */
  href?: string | undefined
}

interface TipsProps {
  /** Names the chart, for screen readers. */
  label: string
  width: number
  marks: readonly Mark[]
  /** Whether a mark is found by its height too; else by its place along the axis alone. */
  isPlane: boolean
  children: ComponentChildren
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }

/** A chart whose marks are read by pointing, by touching, and by the arrow keys. */
function Tips({ label, width, marks, isPlane, children }: TipsProps) {
  const [at, setAt] = useState<number>()
  /** The mark that was shown before a finger touched the chart. */
  const before = useRef<number | undefined>(undefined)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => setAt(undefined), [label])
  const mark = at === undefined ? undefined : marks[at]
  const hasLinks = marks.some(({ href }) => href !== undefined)
  const nearest = ({ clientX, clientY }: PointerEvent): number | undefined => {
    const { left, top } = box.current?.getBoundingClientRect() ?? { left: 0, top: 0 }
    const distance = ({ x, y }: Mark) => Math.hypot(x - clientX + left, isPlane ? y - clientY + top : 0)
    const distances = marks.map(distance)
    return marks.length === 0 ? undefined : distances.indexOf(Math.min(...distances))
  }
  const go = () => {
    if (mark?.href !== undefined) location.hash = mark.href
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step !== undefined && marks.length > 0) {
      event.preventDefault()
      const from = at ?? (step > 0 ? -1 : marks.length)
      setAt(Math.max(0, Math.min(marks.length - 1, from + step)))
    } else if (event.key === 'Enter') go()
    else if (event.key === 'Escape') setAt(undefined)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is of a form
    <div
      ref={box}
      class={`tips${isPlane ? ' plane' : ''}${mark?.href === undefined ? '' : ' linked'}`}
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its values are read by the arrow keys
      tabIndex={0}
      aria-label={`${label}: the arrow keys read its values${hasLinks ? ', Enter shows what is behind one' : ''}`}
      onKeyDown={onKeyDown}
      onBlur={() => setAt(undefined)}
      onPointerDown={(event) => {
        before.current = event.pointerType === 'mouse' ? nearest(event) : at
        setAt(nearest(event))
      }}
      onPointerMove={(event) => setAt(nearest(event))}
      onPointerLeave={({ pointerType }) => {
        if (pointerType === 'mouse') setAt(undefined)
      }}
      onClick={() => before.current === at && go()}
    >
      {children}
      {mark !== undefined && (
        <>
          <div class="cursor" style={{ left: `${mark.x}px`, ...(isPlane ? { top: `${mark.y}px` } : {}) }} />
          <Tip mark={mark} width={width} />
        </>
      )}
    </div>
  )
}

function Tip({ mark: { x, title, lines }, width }: { mark: Mark; width: number }) {
  const place = x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` }
  return (
    <div class="tip" role="status" style={place}>
      <strong>{title}</strong>
      {lines.map(([name, value, isNone, shape], index) =>
        isNone ? null : (
          <p key={index}>
            {shape !== undefined && <Swatch of={shape} />}
            <bdi>{name}</bdi> <span>{value}</span>
          </p>
        ),
      )}
    </div>
  )
}

interface FigureProps {
  title: string
  description: string
  of: string
  height: number
  /** Draws the chart in this width, in pixels. */
  draw: (width: number) => ComponentChildren
  /** The chart says these at its places, in the order of the arrow keys. All have lines of the same names. */
  marks: (width: number) => readonly Mark[]
  /** Whether a mark is found by its height too. */
  isPlane?: boolean
  legend?: ComponentChildren
}

const FIRST_WIDTH = 640

export function Figure(props: FigureProps) {
  const { title, description, of, height, draw, marks, isPlane = false, legend } = props
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const drawn = marks(width)
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {legend}
      <div ref={box}>
        <Tips label={title} width={width} marks={drawn} isPlane={isPlane}>
          {/* not a title: the browser would show it over the values */}
          <svg
            role="img"
            aria-label={`${title}. ${description}`}
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
          >
            {draw(width)}
          </svg>
        </Tips>
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          caption={`${title}, as a table`}
          rows={drawn}
          columns={[
            { name: of, cell: (mark) => mark.title },
            ...(drawn[0]?.lines ?? []).map(([name], index) => ({
              name,
              number: ({ lines }: Mark) => lines[index]?.[1],
            })),
          ]}
        />
      </details>
    </figure>
  )
}

function useWidth(box: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(FIRST_WIDTH)
  useEffect(() => {
    if (box.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0) setWidth(Math.floor(entry.contentRect.width))
    })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return width
}
