/** Counts what is in progress, by key. */
export function createAtOnce() {
  const counts = new Map<string, number>()
  const add = (key: string, count: number): void => {
    const sum = (counts.get(key) ?? 0) + count
    if (sum === 0) counts.delete(key)
    else counts.set(key, sum)
  }
  /** Counts one more under each key until the result is called, once; undefined where a key has `most` already. */
  return (most: Readonly<Record<string, number>>): (() => void) | undefined => {
    if (Object.entries(most).some(([key, each]) => (counts.get(key) ?? 0) >= each)) return undefined
    const addToEach = (count: number) => {
      for (const key of Object.keys(most)) add(key, count)
    }
    addToEach(1)
    return () => addToEach(-1)
  }
}
