// Runs work one piece after the other and sums what it returns: over items (`sumBy`), or in batches of rows until none is left.

/** Runs `run`, which returns a number, for one item after the other. Returns the sum. */
export async function sumBy<Item>(items: readonly Item[], run: (item: Item) => Promise<number>) {
  let sum = 0
  for (const item of items) sum += await run(item)
  return sum
}

/** Repeats `run`, which returns how many rows it changed, until that is below `limit`. Returns the sum. */
export async function inBatches(limit: number, run: () => Promise<number>): Promise<number> {
  let sum = 0
  for (;;) {
    const count = await run()
    sum += count
    if (count < limit) return sum
  }
}
