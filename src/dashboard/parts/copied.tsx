import { Saying, useChanges } from './change.tsx'

/** A text with a button that copies it. */
export function Copied({ text }: { text: string }) {
  const { said, run } = useChanges()
  return (
    <div class="copied">
      <pre>
        <code>{text}</code>
      </pre>
      <div class="actions">
        <button type="button" onClick={() => void run(() => navigator.clipboard.writeText(text), 'Copied')}>
          Copy
        </button>
        <Saying said={said} />
      </div>
    </div>
  )
}
