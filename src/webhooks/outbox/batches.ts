/** Runs a statement on at most `limit` rows, which returns how many, until it finds fewer. Returns the sum. */
export async function inBatches(limit: number, run: () => Promise<number>): Promise<number> {
  let sum = 0
  for (;;) {
    const count = await run()
    sum += count
    if (count < limit) return sum
  }
}
