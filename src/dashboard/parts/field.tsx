import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  value: string
  placeholder?: string
  isNumber?: boolean
  min?: number
  max?: number
  /** Called with the trimmed text when it was changed and the field is left. */
  onChange: (value: string) => void
}

/** A labelled text or number. */
export function Field({ label, value, placeholder, isNumber = false, min, max, onChange }: FieldProps) {
  const change = ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
    onChange(currentTarget.value.trim())
  const id = useId()
  return (
    <label for={id}>
      {label}
      {isNumber ? (
        <input id={id} type="number" step="any" min={min} max={max} value={value} onChange={change} />
      ) : (
        <input id={id} type="search" placeholder={placeholder} value={value} onChange={change} />
      )}
    </label>
  )
}

interface ChoiceProps {
  label: string
  value: string
  /** The values and their names. */
  options: readonly (readonly [value: string, name: string])[]
  onChange: (value: string) => void
}

/** A labelled choice of one of few values. */
export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Values that are their own names. */
export const named = (values: readonly string[]): [string, string][] =>
  values.map((value) => [value, value.replaceAll('_', ' ')])
