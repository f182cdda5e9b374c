/** Repeats `run`, which changes at most `limit` rows and returns their number, until it changes fewer. Returns the sum. */
export async function inBatches(limit: number, run: () => Promise<number>): Promise<number> {
  let sum = 0
  for (;;) {
    const count = await run()
    sum += count
    if (count < limit) return sum
  }
}
