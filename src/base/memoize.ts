/** Values in the cache at most; the oldest is removed first. */
const MAX_VALUES = 1_000

/** `make`, a pure function, with a cache of the values it returned last. Errors are not cached. */
export function memoize<Value>(make: (key: string) => Value): (key: string) => Value {
  const values = new Map<string, Value>()
  return (key) => {
    const known = values.get(key)
    if (known !== undefined || values.has(key)) return known as Value
    const value = make(key)
    if (values.size >= MAX_VALUES) values.delete(values.keys().next().value ?? key)
    values.set(key, value)
    return value
  }
}

/** `make` with the result of the first call that succeeded. */
export function onceResolved<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

/** `make` with the value that it returned at the first call. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
