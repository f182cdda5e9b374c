import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Mark, Tips } from './tips.tsx'

/** The rows that a chart draws, for those who do not see it. */
export interface ChartTable {
  columns: readonly string[]
  rows: readonly (readonly string[])[]
}

interface FigureProps {
  title: string
  /** Describes the chart in a sentence. */
  description: string
  table: ChartTable
  height: number
  /** Draws the chart in this width, in pixels. */
  draw: (width: number) => ComponentChildren
  /** The chart says these at its places, in the order of the arrow keys. */
  marks: (width: number) => readonly Mark[]
  /** Whether a mark is found by its height too. */
  isPlane?: boolean
  legend?: ComponentChildren
}

const FIRST_WIDTH = 640

/** A chart with its title, its description, and its values as a table. */
export function Figure({
  title,
  description,
  table,
  height,
  draw,
  marks,
  isPlane = false,
  legend,
}: FigureProps) {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {legend}
      <div ref={box}>
        <Tips label={title} width={width} marks={marks(width)} isPlane={isPlane}>
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
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is too wide is scrolled by the keyboard too */}
        <section class="scroll" aria-label={`${title}, as a table`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {table.columns.map((column, index) => (
                  <th key={index} scope="col" class={index === 0 ? '' : 'number'}>
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row) => (
                <tr key={row[0]}>
                  {row.map((cell, index) => (
                    <td key={index} class={index === 0 ? '' : 'number'}>
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
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
