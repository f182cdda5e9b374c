import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Table } from '../parts/table.tsx'
import { type Mark, Tips } from './tips.tsx'

// The frame of all charts: title, description, and their values as a table.

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
