import { Elysia } from 'elysia'
import type { Admitted } from './admission.ts'

/** The state of a request from its arrival to its response, in Elysia's context. */
type Arrived = {
  startedAt: number
  requestId: string
  /** Undefined outside /v1. */
  admitted: Admitted | undefined
  /** Whether all rows of the list are asked for. */
  isWhole: boolean
}

/** Gives the context of plugins and routes the fields of `Arrived`. */
export const context = new Elysia({ name: 'context' }).decorate({
  startedAt: 0,
  requestId: '',
  admitted: undefined,
  isWhole: false,
} as Arrived)

/** The host begins behind `http://`; it may be one letter, or missing. */
const HOST_START = 7

export const targetOf = (url: string): string => url.slice(url.indexOf('/', HOST_START))

/** The path of a URL, without the slash that it may end with. */
export const pathOf = (url: string): string => {
  const start = url.indexOf('/', HOST_START)
  const mark = url.indexOf('?', start)
  const end = mark === -1 ? url.length : mark
  return url.slice(start, end - start > 1 && url[end - 1] === '/' ? end - 1 : end)
}
