import { useState } from 'preact/hooks'
import { ApiFailure } from '../client/api.ts'

/** The message about the last change. */
export type Said = { text: string; isProblem: boolean } | undefined

/**
 * Makes changes one at a time and says what became of them. `count` grows with each that was made, so that lists which have
 * it in their key are loaded again.
 */
export function useChanges(): {
  count: number
  said: Said
  run: <Result>(work: () => Promise<Result>, done?: string) => Promise<Result | undefined>
} {
  const [count, setCount] = useState(0)
  const [said, setSaid] = useState<Said>()
  return {
    count,
    said,
    async run(work, done = 'Saved') {
      try {
        const result = await work()
        setSaid({ text: done, isProblem: false })
        setCount((before) => before + 1)
        return result
      } catch (error) {
        setSaid({ text: error instanceof ApiFailure ? error.message : String(error), isProblem: true })
        return undefined
      }
    },
  }
}

/** Shows the message, for people and screen readers. */
export function Saying({ said }: { said: Said }) {
  if (said === undefined) return null
  return (
    <p class={said.isProblem ? 'failure' : 'good'} role={said.isProblem ? 'alert' : 'status'}>
      {said.text}
    </p>
  )
}
