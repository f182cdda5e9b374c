import { useState } from 'preact/hooks'

/** A text with a button that copies it. */
export function Copied({ text }: { text: string }) {
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('The browser does not allow it: select the text')
    }
  }
  return (
    <div class="copied">
      <pre>
        <code>{text}</code>
      </pre>
      <button type="button" onClick={() => void copy()}>
        Copy
      </button>{' '}
      <span role="status">{said}</span>
    </div>
  )
}
