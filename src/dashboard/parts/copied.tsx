import { Saying, useChanges } from './change.tsx'
import { Button } from './form.tsx'

// Texts with a button that copies them.

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
