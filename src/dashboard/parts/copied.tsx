// Buttons that copy a text, or save a list as CSV.

import { pathOf, request } from '../client/api.ts'
import type { Query } from '../client/links.ts'
import { Button, Saying, useChanges } from './form.tsx'

interface CopyProps {
  /** Called by the click. */
  textOf: () => string
  /** Says how it may be copied by hand. */
  instead: string
  children: string
}

export function Copy({ textOf, instead, children }: CopyProps) {
  const { said, run } = useChanges()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(textOf())
    } catch {
      throw new Error(`The browser does not allow it: ${instead}`)
    }
  }
  return (
    <>
      <Button act={() => run(copy, 'Copied')}>{children}</Button>
      <Saying said={said} />
    </>
  )
}

export function Copied({ text }: { text: string }) {
  return (
    <div class="copied">
      <pre>
        <code>{text}</code>
      </pre>
      <div class="actions">
        <Copy textOf={() => text} instead="select the text">
          Copy
        </Copy>
      </div>
    </div>
  )
}

export interface CsvProps {
  path: string
  /** That of the list, page and all. */
  query: Query
  /** The file's, without `.csv`. */
  name: string
}

/** Saves all rows of a list as a CSV file. */
export function Csv({ path, query, name }: CsvProps) {
  const { said, run } = useChanges()
  const save = async (): Promise<void> => {
    const response = await request(pathOf(path, { ...query, page: undefined, per_page: 'all' }), {
      accept: 'text/csv',
    })
    saveFile(name, await response.blob())
  }
  return (
    <>
      <Button act={() => run(save)}>CSV</Button>
      <Saying said={said} />
    </>
  )
}

/** Has the browser save a CSV file. */
export function saveFile(name: string, content: Blob | string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.csv`
  link.click()
  URL.revokeObjectURL(url)
}
