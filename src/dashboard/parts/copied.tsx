import { Saying, useChanges } from './change.tsx'
import { Button } from './form.tsx'

/** A text with a button that copies it. */
export function Copied({ text }: { text: string }) {
  const { said, run } = useChanges()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      throw new Error('The browser does not allow it: select the text')
    }
  }
  return (
    <div class="copied">
      <pre>
        <code>{text}</code>
      </pre>
      <div class="actions">
        <Button act={() => run(copy, 'Copied')}>Copy</Button>
        <Saying said={said} />
      </div>
    </div>
  )
}
