import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { useLoaded } from '../client/api.ts'
import { capital } from '../client/format.ts'
import { NONE } from '../client/links.ts'
import { SUGGESTIONS, type Suggested } from '../client/lists.ts'
import { setQuery, useHere } from '../client/router.ts'
import { Choice, Field, named, useTyped } from './field.tsx'
import type { Sorting } from './table.tsx'

/** Parameters of the page's URL that the API has under the same names. */
export const pick = <Name extends string>(query: URLSearchParams, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined])) as Record<
    Name,
    string | undefined
  >

/** Fields that act at once. */
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

/** A text or number that is kept in the URL. */
export function QueryField({ name, ...field }: QueryFieldProps) {
  const value = useHere().query.get(name) ?? ''
  return <Field {...field} value={value} onChange={(changed) => setQuery({ [name]: changed })} />
}

interface QueryChoiceProps extends QueryFieldProps {
  /** Without them all is a choice too. */
  options?: readonly (readonly [value: string, name: string])[]
  values?: readonly string[]
  /** Chosen unless the URL says otherwise. */
  usual?: string
}

export function QueryChoice({ name, label, values = [], options, usual = '' }: QueryChoiceProps) {
  const value = useHere().query.get(name) ?? usual
  const all = options ?? [['', 'all'], ...named(values)]
  return <Choice {...{ label, value, options: all }} onChange={(changed) => setQuery({ [name]: changed })} />
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
  const known = useLoaded(`suggestions ${name} ${isAsked}`, async () =>
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
        {(known.state === 'ready' ? known.value : []).map(
          ([one, called]) =>
            // an alert cannot be of what has none
            (field === undefined || one !== NONE) && <option key={one} value={one} label={called} />,
        )}
      </datalist>
    </label>
  )
}

/** The order of a table, kept in the URL. */
export const sortingOf = (query: URLSearchParams, usual: string): Sorting => ({
  by: query.get('sort') ?? usual,
  order: query.get('order') ?? 'desc',
  change: (sort, order) => setQuery({ sort, order }),
})
