// ECMAScript 2026, which the runtime has and TypeScript 5.9 does not declare.
interface Map<K, V> {
  /** The value of the key; where there is none, `make` makes it. */
  getOrInsertComputed(key: K, make: (key: K) => V): V
}
