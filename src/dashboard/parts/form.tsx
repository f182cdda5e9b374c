import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

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
export const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
