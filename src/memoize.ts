/** Values kept at most; the one that was made first is forgotten first. */
const MAX_VALUES = 1_000

/** `make`, a pure function, asked once for each of the last keys. What it throws is not kept. */
export function remembered<Value>(make: (key: string) => Value): (key: string) => Value {
  const values = new Map<string, Value>()
  return (key) => {
    const known = values.get(key)
    if (known !== undefined) return known
    const value = make(key)
    if (values.size >= MAX_VALUES) values.delete(values.keys().next().value ?? key)
    values.set(key, value)
    return value
  }
}
