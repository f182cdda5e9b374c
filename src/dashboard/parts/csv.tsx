import { request } from '../client/api.ts'
import { Saying, useChanges } from './change.tsx'
import { Button } from './form.tsx'

export interface CsvProps {
  path: string
  /** The file's, without `.csv`. */
  name: string
}

/** Saves the page that `path` names as a CSV file. */
export function Csv({ path, name }: CsvProps) {
  const { said, run } = useChanges()
  const save = async (): Promise<void> => {
    const response = await request(path, { accept: 'text/csv' })
    const url = URL.createObjectURL(await response.blob())
    const link = document.createElement('a')
    link.href = url
    link.download = `${name}.csv`
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <div class="actions">
      <Button act={() => run(save)}>Save this page as CSV</Button>
      <Saying said={said} />
    </div>
  )
}
