import { useState } from 'preact/hooks'
import { request } from '../client/api.ts'
import { linkTo } from '../client/links.ts'

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The message about the last change. */
interface Said {
  text: string
  isProblem: boolean
}

/** Makes changes and says what became of them. `count` grows with each, so that what depends on it is loaded again. */
export function useChanges() {
  const [count, setCount] = useState(0)
  const [said, setSaid] = useState<Said>()
  return {
    count,
    said,
    reload: () => setCount((before) => before + 1),
    /** Resolves to undefined if the change was refused. `done` is said, or made from the result. */
    async run<Result>(
      work: () => Promise<Result>,
      done: string | ((result: Result) => string) = 'Saved',
    ): Promise<Result | undefined> {
      try {
        const result = await work()
        setSaid({ text: typeof done === 'string' ? done : done(result), isProblem: false })
        setCount((before) => before + 1)
        return result
      } catch (error) {
        setSaid({ text: messageOf(error), isProblem: true })
        return undefined
      }
    },
  }
}

/** Deletes what a page of its own shows, and goes to the list. */
export async function removeAndLeave(path: string, page: string): Promise<void> {
  await request(path, { method: 'DELETE' })
  location.hash = linkTo(page)
  // the page must be gone before what was deleted is loaded again
  await new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }))
}

/** Shows the message, for people and screen readers. */
export function Saying({ said }: { said: Said | undefined }) {
  if (said === undefined) return null
  return (
    <p class={said.isProblem ? 'failure' : 'good'} role={said.isProblem ? 'alert' : 'status'}>
      {said.text}
    </p>
  )
}
