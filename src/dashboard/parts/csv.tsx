import { useState } from 'preact/hooks'
import { ApiFailure, request } from '../client/api.ts'

/** Saves the page that `path` names as a CSV file. */
export function Csv({ path, name }: { path: string; name: string }) {
  const [problem, setProblem] = useState<string>()
  const save = async (): Promise<void> => {
    try {
      const response = await request(path, { accept: 'text/csv' })
      const url = URL.createObjectURL(await response.blob())
      const link = document.createElement('a')
      link.href = url
      link.download = `${name}.csv`
      link.click()
      URL.revokeObjectURL(url)
      setProblem(undefined)
    } catch (error) {
      setProblem(error instanceof ApiFailure ? error.message : String(error))
    }
  }
  return (
    <p>
      <button type="button" onClick={() => void save()}>
        Save this page as CSV
      </button>
      {problem !== undefined && <span class="failure"> {problem}</span>}
    </p>
  )
}
