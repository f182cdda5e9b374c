/**
 * Resolves to the value of `promise`, or to `late` when that takes longer than `limitMs`; rejects as `promise` does.
 */
export async function withTimeout<Value, Late>(
  promise: Promise<Value>,
  limitMs: number,
  late: Late,
): Promise<Value | Late> {
  const timeout = Promise.withResolvers<Late>()
  const timer = setTimeout(timeout.resolve, limitMs, late)
  try {
    return await Promise.race([promise, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
