/** Resolves at the first SIGTERM, SIGINT or SIGHUP. Ignores further ones: npx sends Ctrl-C twice. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}
