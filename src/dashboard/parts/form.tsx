// The parts of forms: fields, passwords, buttons, a second click that confirms, and the message of what became of a change.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf, request } from '../client/api.ts'
import { linkTo } from '../client/links.ts'

/** The texts of a form's fields by their names; all but secrets without space around them. */
export type Fields = Readonly<Record<string, string>>

interface FormProps {
  title?: string
  /** A class of the style sheet. */
  kind?: 'settings' | 'filters' | 'decide' | ''
  /** The words of the button. */
  send: string
  /** `all` has fields of the same name too. Resolves to whether the form is to be as it was at first. */
  onSend: (fields: Fields, all: FormData) => Promise<unknown>
  onInput?: (fields: Fields) => void
  buttons?: ComponentChildren
  children: ComponentChildren
}

export const fieldsOf = (form: HTMLFormElement): Fields =>
  Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => {
      const field = form.elements.namedItem(name)
      const isSecret = field instanceof HTMLInputElement && field.type === 'password'
      return [name, isSecret ? String(value) : String(value).trim()]
    }),
  )

/** Fields and a button. The browser holds what is typed until it is sent. */
export function Form({ title, kind = 'settings', send, onSend, onInput, buttons, children }: FormProps) {
  /** A second click does not send it twice. */
  const isBusy = useRef(false)
  return (
    <form
      class={kind}
      onInput={({ currentTarget }) => onInput?.(fieldsOf(currentTarget))}
      onSubmit={async (event) => {
        event.preventDefault()
        if (isBusy.current) return
        isBusy.current = true
        const form = event.currentTarget
        try {
          if ((await onSend(fieldsOf(form), new FormData(form))) === true) form.reset()
        } finally {
          isBusy.current = false
        }
      }}
    >
      {title !== undefined && <h2>{title}</h2>}
      {children}
      <button type="submit">{send}</button>
      {buttons}
    </form>
  )
}

interface ButtonProps {
  /** A promise is not waited for. */
  act: () => unknown
  children: ComponentChildren
}

/** A button that does something by itself. */
export const Button = ({ act, children }: ButtonProps) => (
  <button type="button" onClick={() => void act()}>
    {children}
  </button>
)

interface InputProps {
  label: string
  name: string
  type?: 'date' | 'email' | 'number' | 'password' | 'url'
  required?: boolean
  minLength?: number
  maxLength?: number
  min?: number
  max?: number
  step?: number | 'any'
  pattern?: string
  placeholder?: string
  defaultValue?: string | number
  autocomplete?: 'off' | 'username' | 'current-password' | 'new-password'
  spellcheck?: boolean
  /** The id of the values that are suggested. */
  list?: string
  hasFocus?: boolean
}

/** A labelled field of a form; `defaultValue` is what it has at first. */
export function Input({ label, hasFocus = false, ...input }: InputProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (hasFocus) field.current?.focus()
  }, [])
  // Preact's type of an input is another for each kind of it
  const attributes: object = input
  return (
    <label>
      {label}
      <input ref={field} {...attributes} />
    </label>
  )
}

/** The name of a time zone, of those that the browser knows. */
export const ZoneInput = ({ zone }: { zone: string }) => (
  <>
    <Input
      label="Time zone of its days, weeks and months"
      {...{ name: 'time_zone', required: true, list: 'time-zones', defaultValue: zone, spellcheck: false }}
    />
    <datalist id="time-zones">
      {['UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  </>
)

export const MIN_PASSWORD_LENGTH = 12

export const NewPassword = ({ label }: { label: string }) => (
  <Input
    {...{ label, type: 'password', name: 'password', autocomplete: 'new-password', required: true }}
    minLength={MIN_PASSWORD_LENGTH}
    maxLength={256}
  />
)

/** Texts that somebody separated by commas. */
export const splitList = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

interface AskedProps {
  children: string
  question: string
  act: () => Promise<unknown>
  /** Whether it stands apart from other buttons: what it deletes is gone. */
  isApart?: boolean
}

/** A button that acts on the second click. Leaving it takes the first one back. */
export function Asked({ children, question, act, isApart = false }: AskedProps) {
  const [isAsked, setAsked] = useState(false)
  const click = ({ detail }: MouseEvent) => {
    // the second half of a double click confirms nothing
    if (detail > 1) return
    setAsked(!isAsked)
    if (isAsked) void act()
  }
  return (
    <button type="button" class={isApart ? 'apart' : ''} onClick={click} onBlur={() => setAsked(false)}>
      {isAsked ? question : children}
    </button>
  )
}

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
