// Runs the intake in a thread that starts with the first request and ends after half a minute without one, so that an idle
// server has no memory for it. When the thread dies or hangs, its requests get 503, its connections are ended, and the next
// request starts a new one.

import { busy, messageOf } from '../../base/errors.ts'
import { randomLowerAlnum } from '../../base/ids.ts'
import { type SupervisorOptions, superviseThread } from '../../base/supervise.ts'
import type { SyncResult } from '../sync/write.ts'
import { type FromIntake, type Intake, receivedError, sentError, type ToIntake } from './messages.ts'

type Start = Extract<ToIntake, { type: 'start' }>

export interface IntakeThreadOptions
  extends Pick<Start, 'target' | 'settings'>,
    Pick<SupervisorOptions<ToIntake, FromIntake>, 'spawn' | 'log' | 'meter' | 'tickMs' | 'missedBeats'> {
  /** Ends the connections whose names begin so; PostgreSQL rolls their transactions back. */
  endConnections: (applicationName: string) => Promise<void>
  /** The thread ends after this time without a request: long after the last telemetry is written to its sessions. */
  idleMs?: number
  /** A stop waits this long for what is being written. */
  stopMs?: number
}

export function createIntakeThread(options: IntakeThreadOptions): Intake {
  const { target, settings, endConnections, log, idleMs = 30_000, stopMs = 3_000 } = options
  /** The requests of the thread that runs. */
  let pending = new Map<number, PromiseWithResolvers<SyncResult>>()
  let nextId = 1
  let idleTimer: ReturnType<typeof setTimeout> | undefined

  const begin = () => {
    const applicationName = `cloud-analytics intake ${randomLowerAlnum(8)}`
    const requests: typeof pending = new Map()
    pending = requests
    return {
      start: { type: 'start', target, applicationName, settings } as const,
      onMessage(message: FromIntake) {
        if (message.type !== 'done' && message.type !== 'failed') return
        const request = requests.get(message.id)
        requests.delete(message.id)
        idleTimer?.refresh()
        if (message.type === 'done') request?.resolve(message.result)
        else request?.reject(receivedError(message.error))
      },
      onEnd(isFailure: boolean) {
        for (const { reject } of requests.values()) reject(busy('The server was interrupted at this request'))
        if (!isFailure) return
        endConnections(applicationName).catch((error: unknown) =>
          log.warn('connections of the intake thread may still be open', { error: messageOf(error) }),
        )
      },
    }
  }
  const thread = superviseThread<ToIntake, FromIntake>({
    ...options,
    stopMs,
    name: 'intake',
    keepsRunning: false,
    begin,
  })
  const endWhenIdle = () => {
    if (pending.size === 0) thread.release()
  }
  const post: typeof thread.post = (...message) => {
    thread.post(...message)
    clearTimeout(idleTimer)
    idleTimer = setTimeout(endWhenIdle, idleMs)
  }
  return {
    async submit(request, signal) {
      if (thread.state() === 'stopped') throw busy('The server is stopping')
      signal.throwIfAborted()
      const id = nextId++
      post({ type: 'request', id, request }, [request.body.bytes.buffer])
      const result = Promise.withResolvers<SyncResult>()
      pending.set(id, result)
      // the thread answers also then: the request holds its places at the gate while its body is in memory
      const cancel = () => {
        if (pending.get(id) === result) post({ type: 'cancel', id, error: sentError(signal.reason) })
      }
      signal.addEventListener('abort', cancel, { once: true })
      return await result.promise
    },
    drain(orgIds) {
      if (thread.state() !== 'stopped') post({ type: 'drain', orgIds })
    },
    stop: thread.stop,
  }
}
