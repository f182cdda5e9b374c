/** Resolves at the first SIGTERM, SIGINT or SIGHUP. Ignores further ones: npx sends Ctrl-C twice. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}

/**
 * Notes the first SIGTERM, SIGINT or SIGHUP in `signal`, for work that stops where it may. A second one ends the process as
 * it does by default.
 */
export function stopSignal(): { readonly signal: NodeJS.Signals | undefined; release(): void } {
  const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  let signal: NodeJS.Signals | undefined
  const onSignal = (name: NodeJS.Signals) => {
    signal = name
    release()
  }
  const release = () => {
    for (const name of names) process.off(name, onSignal)
  }
  for (const name of names) process.on(name, onSignal)
  return {
    get signal() {
      return signal
    },
    release,
  }
}
