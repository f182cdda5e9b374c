// Waits for the signals that end a command.

import { OperatorError } from '../../base/errors.ts'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Resolves at the first SIGTERM, SIGINT or SIGHUP. Ignores further ones: npx sends Ctrl-C twice. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve(signal))
  })
}

/** `stopped` aborts at the first SIGTERM, SIGINT or SIGHUP; a second one ends the process. */
export function stopSignal(): { readonly stopped: AbortSignal; release(): void } {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    release()
    controller.abort(
      new OperatorError(`stopped by ${name}: what was sent so far is kept, run it again later`),
    )
  }
  const release = () => {
    for (const name of SIGNALS) process.off(name, onSignal)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return { stopped: controller.signal, release }
}
