import type { ComponentChildren } from 'preact'
import { type Loaded, loadedOf } from '../client/api.ts'

// The sentence with which a page begins.

interface AnswerProps {
  /** The page's answer: a sentence. */
  children: ComponentChildren
  /** Defines the figures and says their limits. */
  soft?: ComponentChildren
}

/** The heading of a page is its answer. */
export const Answer = ({ children, soft }: AnswerProps) => (
  <>
    <h1 class="answer">{children}</h1>
    {soft !== undefined && soft !== '' && soft !== false && <p class="soft">{soft}</p>}
  </>
)

interface AnswerOfProps<Value> extends Pick<AnswerProps, 'soft'> {
  loaded: Loaded<Value>
  /** The heading where nothing was loaded. */
  name: string
  children: (value: Value) => ComponentChildren
}

/** The answer from what was loaded. */
export function AnswerOf<Value>({ loaded, name, soft, children }: AnswerOfProps<Value>) {
  const value = loadedOf(loaded)
  return <Answer soft={soft}>{value === undefined ? name : children(value)}</Answer>
}

interface ReadyProps {
  /** All that is asked for at first. */
  of: readonly Loaded<unknown>[]
  /** Whether the answer stands above. */
  isBelow?: boolean
  children: () => ComponentChildren
}

/** Shows a page, or what is below its answer, when all of it is there, so that nothing is moved by what comes later. */
export function Ready({ of, isBelow = false, children }: ReadyProps): ComponentChildren {
  if (of.every((loaded) => loaded.state !== 'loading' || loaded.value !== undefined)) return children()
  return (
    <>
      {!isBelow && <h1 class="answer">…</h1>}
      <p class="note" role="status">
        Loading …
      </p>
    </>
  )
}
