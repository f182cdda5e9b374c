/** Resolves at the first SIGTERM, SIGINT or SIGHUP. Further signals are ignored: under npx Ctrl-C arrives twice. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}
