import { useState } from 'preact/hooks'

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The message about the last change. */
interface Said {
  text: string
  isProblem: boolean
}

/**
 * Makes changes and says what became of them. `count` grows with each that was made, so that what is loaded with it is
 * loaded again.
 */
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

/** Shows the message, for people and screen readers. */
export function Saying({ said }: { said: Said | undefined }) {
  if (said === undefined) return null
  return (
    <p class={said.isProblem ? 'failure' : 'good'} role={said.isProblem ? 'alert' : 'status'}>
      {said.text}
    </p>
  )
}
