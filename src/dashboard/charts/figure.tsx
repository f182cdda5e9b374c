import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

/** The rows that a chart draws, for those who do not see it. */
export interface ChartTable {
  columns: readonly string[]
  rows: readonly (readonly string[])[]
}

interface FigureProps {
  title: string
  /** What the chart shows, in a sentence. */
  description: string
  table: ChartTable
  height: number
  /** Draws the chart in this width, in pixels. */
  draw: (width: number) => ComponentChildren
  legend?: ComponentChildren
  /** Whether it has links, which a reader of the screen must find. */
  hasLinks?: boolean
}

const FIRST_WIDTH = 640

/** A chart with its title, its description, and its values as a table. */
export function Figure({ title, description, table, height, draw, legend, hasLinks = false }: FigureProps) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {legend}
      <div ref={box}>
        <svg
          role={hasLinks ? 'group' : 'img'}
          aria-labelledby={`${id}t ${id}d`}
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
        >
          <title id={`${id}t`}>{title}</title>
          <desc id={`${id}d`}>{description}</desc>
          {draw(width)}
        </svg>
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
