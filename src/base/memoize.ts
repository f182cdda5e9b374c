// Keeps results of functions: `memoize` by key (bounded), `once` the first, `onceResolved` the first promise that succeeded.

/** `make`, a pure function, with a cache of values, of which the oldest is removed for another. Errors are not cached. */
export function memoize<Value>(make: (key: string) => Value, maxValues = 1_000): (key: string) => Value {
  const values = new Map<string, Value>()
  return (key) => {
    const cached = values.get(key)
    if (cached !== undefined || values.has(key)) return cached as Value
    const value = make(key)
    if (values.size >= maxValues) values.delete(values.keys().next().value ?? key)
    values.set(key, value)
    return value
  }
}

/** `make` with the result of the first call that succeeded. */
export function onceResolved<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined
  return () => {
    result ??= make().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}

/** `make` with the value that it returned at the first call. */
export function once<Value>(make: () => Value): () => Value {
  let result: { value: Value } | undefined
  return () => {
    result ??= { value: make() }
    return result.value
  }
}
