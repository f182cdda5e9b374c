// Fields and choices that act at once: those of filters, kept in the page's URL, and what forms of several pages use too.

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useState } from 'preact/hooks'
import { useLoaded } from '../client/api.ts'
import { isDay } from '../client/days.ts'
import { capital } from '../client/format.ts'
import { NONE } from '../client/links.ts'
import { SUGGESTIONS, type Suggested } from '../client/lists.ts'
import { setQuery, useHere } from '../client/router.ts'

/** Holds what is typed into a field, which begins with `value` and follows its changes: drawing the page again does not lose it. */
export function useTyped(value: string) {
  const [typed, setTyped] = useState(value)
  // at once: an effect after the paint would take away what was typed before it ran
  useLayoutEffect(() => setTyped(value), [value])
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement }) => setTyped(currentTarget.value)
  return { typed, setTyped, onInput }
}

interface FieldProps {
  label: string
  value: string
  placeholder?: string
  /** A number that is not negative, rather than a text. */
  isNumber?: boolean
  /** Called with the trimmed text when it was changed and the field is left. */
  onChange: (value: string) => void
}

export function Field({ label, value, placeholder, isNumber = false, onChange }: FieldProps) {
  const change = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    // the browser says what is wrong with the number
    if (currentTarget.reportValidity()) onChange(currentTarget.value.trim())
  }
  const { typed, onInput } = useTyped(value)
  const id = useId()
  const kind = isNumber ? ({ type: 'number', step: 'any', min: 0 } as const) : ({ type: 'search' } as const)
  return (
    <label for={id}>
      {label}
      <input id={id} {...kind} placeholder={placeholder} value={typed} onInput={onInput} onChange={change} />
    </label>
  )
}

interface DayFieldProps {
  label: string
  /** `YYYY-MM-DD` or empty. */
  value: string
  isOptional?: boolean
  /** Called when the field is left or Enter is pressed: while a year is typed, its first digits are a date too. */
  onChange: (value: string) => void
}

export function DayField({ label, value, isOptional = false, onChange }: DayFieldProps) {
  const { typed, setTyped, onInput } = useTyped(value)
  const finish = ({ currentTarget: { value: given, validity } }: { currentTarget: HTMLInputElement }) => {
    if (given === value) return
    if (isDay(given) || (isOptional && given === '' && !validity.badInput)) onChange(given)
    else setTyped(value)
  }
  return (
    <label>
      {label}
      <input
        type="date"
        value={typed}
        onInput={onInput}
        onBlur={finish}
        onKeyDown={(event) => event.key === 'Enter' && finish(event)}
      />
    </label>
  )
}

/** Says that a range has its ends the wrong way round. */
export function RangeProblem({ from, to }: { from: string; to: string }) {
  if (from === '' || to === '' || from <= to) return null
  return (
    <p class="failure" role="alert">
      From is after To
    </p>
  )
}

interface ChoiceProps {
  label: string
  value: string
  /** The values and their names. */
  options: readonly (readonly [value: string, name: string])[]
  /** In a form, which reads it. */
  name?: string
  onChange?: (value: string) => void
}

export function Choice({ label, value, options, name, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select
        name={name}
        value={onChange && value}
        onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
      >
        {options.map(([option, called]) => (
          <option key={option} value={option} selected={option === value}>
            {called}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Values that are their own names. */
export const named = (values: readonly string[]): [string, string][] =>
  values.map((value) => [value, value.replaceAll('_', ' ')])

/** Parameters of the page's URL that the API has under the same names. */
export const pick = <Name extends string>(query: URLSearchParams, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined])) as Record<
    Name,
    string | undefined
  >

export const FilterForm = ({ children }: { children: ComponentChildren }) => (
  <form class="filters" onSubmit={(event) => event.preventDefault()}>
    {children}
  </form>
)

interface QueryFieldProps {
  /** The parameter of the page's URL. */
  name: string
  label: string
  placeholder?: string
  isNumber?: boolean
}

export function QueryField({ name, ...field }: QueryFieldProps) {
  const value = useHere().query.get(name) ?? ''
  return <Field {...field} value={value} onChange={(changed) => setQuery({ [name]: changed })} />
}

interface QueryChoiceProps extends Pick<ChoiceProps, 'label' | 'options'> {
  /** The parameter of the page's URL. */
  name: string
  /** Chosen unless the URL says otherwise. */
  usual?: string
}

export function QueryChoice({ name, label, options, usual = '' }: QueryChoiceProps) {
  const value = useHere().query.get(name) ?? usual
  return <Choice {...{ label, value, options }} onChange={(changed) => setQuery({ [name]: changed })} />
}

interface ChooserProps {
  /** The parameter of the page's URL. */
  name: string
  label?: string
  /** Its values are suggested; else those of the name. */
  suggested?: Suggested
  /** In a form, which reads it under this name instead. */
  field?: { name: string; defaultValue: string; isOptional?: boolean }
}

/** A text field that suggests values once it has the focus; any other may be typed. */
export function Chooser({ name, label = capital(name), suggested = name as Suggested, field }: ChooserProps) {
  const { typed, onInput } = useTyped(useHere().query.get(name) ?? '')
  const id = useId()
  const [isAsked, setAsked] = useState(false)
  const suggestions = useLoaded(`suggestions ${name} ${isAsked}`, async () =>
    isAsked ? await SUGGESTIONS[suggested]() : [],
  )
  return (
    <label>
      {label}
      <input
        type="search"
        list={id}
        {...(field === undefined
          ? { placeholder: 'all', value: typed, onInput }
          : { name: field.name, defaultValue: field.defaultValue, required: field.isOptional !== true })}
        onFocus={() => setAsked(true)}
        onChange={({ currentTarget }) =>
          field === undefined && setQuery({ [name]: currentTarget.value.trim() })
        }
      />
      <datalist id={id}>
        {(suggestions.state === 'ready' ? suggestions.value : []).map(
          ([one, called]) =>
            // an alert cannot be of what has none
            (field === undefined || one !== NONE) && <option key={one} value={one} label={called} />,
        )}
      </datalist>
    </label>
  )
}
