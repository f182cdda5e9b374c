import { pathOf, request } from '../client/api.ts'
import type { Query } from '../client/links.ts'
import { Saying, useChanges } from './change.tsx'
import { Button } from './form.tsx'

// A button that saves a list as CSV.

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
