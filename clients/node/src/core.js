import { ApiError, ConnectionError, errorOf, TimeoutError } from './errors.js'
import { METHODS, VERSION } from './methods.js'

const DEFAULT_URL = 'http://127.0.0.1:8080'
const RETRIED = new Set([408, 429, 502, 503, 504])
// milliseconds before the first retry, doubled for each further one
const [FIRST_DELAY, LONGEST_DELAY] = [500, 8_000]
const LONGEST_RETRY_AFTER = 300_000 // milliseconds that a server is waited for
const LONGEST_TIMEOUT = 2 ** 31 - 1 // a longer timer ends at once

const environment = (name) => globalThis.process?.env?.[name] || undefined

/** `Retry-After` in milliseconds, of seconds or a date; null without one. */
function retryAfterOf(headers) {
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  const delay = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(delay) ? null : Math.max(0, delay)
}

function wait(delay, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, delay)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** `{session_id}` of a path replaced by the ids, in order. */
function pathOf(template, ids) {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    const id = ids.shift()
    if (typeof id !== 'string' || /^\.{0,2}$/.test(id))
      throw new TypeError(`${name} must be an id, not ${JSON.stringify(id)}`)
    return encodeURIComponent(id)
  })
}

class Transport {
  constructor({ apiKey, baseUrl, timeout = 30_000, maxRetries = 2 } = {}) {
    if (!(timeout > 0)) throw new TypeError('timeout must be a number of milliseconds above 0')
    if (!Number.isInteger(maxRetries) || maxRetries < 0)
      throw new TypeError('maxRetries must be a whole number')
    const url = baseUrl ?? environment('CLOUD_ANALYTICS_SERVER') ?? DEFAULT_URL
    if (!/^https?:\/\//.test(url))
      throw new TypeError(`baseUrl must begin with https:// or http://, not ${url}`)
    this.root = url.replace(/\/+$/, '').replace(/(\/api)?\/v1$/, '')
    this.key = (apiKey ?? environment('CLOUD_ANALYTICS_KEY'))?.trim()
    // the runtime's error of a header would show it
    if (this.key && !/^[!-~]+$/.test(this.key))
      throw new TypeError('apiKey must be of printable ASCII characters without a space')
    this.timeout = Math.min(timeout, LONGEST_TIMEOUT)
    this.maxRetries = maxRetries
  }

  /** Sends a request, again where that is safe and may help. */
  async send(request) {
    const isSafe =
      request.method === 'GET' || request.path === '/v1/sync' || request.idempotencyKey !== undefined
    for (let attempt = 0; ; attempt++) {
      let error
      let asked = null
      try {
        const { status, text, headers } = await this.once(request)
        if (status < 300 || (status === 503 && request.answers503 && !/"code"/.test(text)))
          return answerOf(text, status, request, headers)
        asked = retryAfterOf(headers)
        error = errorOf(status, text, headers, asked === null ? null : asked / 1000)
      } catch (thrown) {
        error = thrown
      }
      const mayHelp =
        error instanceof ConnectionError || (error instanceof ApiError && RETRIED.has(error.status))
      if (!isSafe || !mayHelp || attempt >= this.maxRetries || asked > LONGEST_RETRY_AFTER) throw error
      const backOff = Math.min(FIRST_DELAY * 2 ** attempt, LONGEST_DELAY) * (0.75 + Math.random() / 4)
      await wait(asked ?? backOff, request.signal)
    }
  }

  async once({ method, path, query, body, headers, idempotencyKey, signal }) {
    const url = new URL(this.root + path)
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), this.timeout)
    const stop = () => controller.abort()
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
    try {
      const response = await fetch(url, {
        method,
        headers: {
          'user-agent': `cloud-analytics-node/${VERSION}`,
          accept: 'application/json',
          ...(this.key && { authorization: `Bearer ${this.key}` }),
          ...(body !== undefined && {
            'content-type': Array.isArray(body) ? 'application/x-ndjson' : 'application/json',
          }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...headers,
        },
        ...(body !== undefined && { body: Array.isArray(body) ? linesOf(body) : JSON.stringify(body) }),
        // another server does not get the key
        redirect: 'manual',
        signal: controller.signal,
      })
      return { status: response.status, text: await response.text(), headers: response.headers }
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      if (controller.signal.aborted)
        throw new TimeoutError(`${method} ${path}: no answer within ${this.timeout} ms`)
      throw new ConnectionError(`${method} ${path}: ${cause?.cause?.message || cause.message}`, { cause })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
  }
}

function answerOf(text, status, { isText }, headers) {
  if (isText) return text
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    const request_id = headers.get('x-request-id')
    throw new ApiError({ message: 'the answer is not JSON', code: 'INTERNAL_ERROR', status, request_id })
  }
}

/** A page when it is awaited, all items of all pages when it is iterated over. Nothing is sent before. */
class List {
  #load
  #first
  constructor(load) {
    this.#load = load
  }
  #begin() {
    this.#first ??= this.#load()
    return this.#first
  }
  // biome-ignore lint/suspicious/noThenProperty: awaiting a list gives its page
  then(onFulfilled, onRejected) {
    return this.#begin().then(onFulfilled, onRejected)
  }
  catch(onRejected) {
    return this.#begin().catch(onRejected)
  }
  finally(onFinally) {
    return this.#begin().finally(onFinally)
  }
  async *[Symbol.asyncIterator]() {
    let page = await this.#begin()
    const seen = new Set()
    for (;;) {
      for (const item of page.data) {
        // what arrives meanwhile moves items to the next page
        if (seen.has(item.id)) continue
        if (item.id !== undefined) seen.add(item.id)
        yield item
      }
      const { page: number, per_page, total } = page.pagination ?? {}
      if (!number || page.data.length === 0 || number * per_page >= total) return
      page = await this.#load(number + 1)
    }
  }
}

/** One line of JSON for each record: the server takes more of them than in one JSON text. */
const linesOf = (records) => records.map((record) => `${JSON.stringify(record) ?? 'null'}\n`).join('')

/** A row of the table as a function: ids, one object, options. */
function methodOf(transport, row) {
  const [method, template, ...flags] = row.split(' ')
  const has = (flag) => flags.includes(flag)
  const beside =
    flags
      .find((flag) => flag.startsWith('?'))
      ?.slice(1)
      .split(',') ?? []
  const isSync = template === '/v1/sync'
  const hasBody = method !== 'GET' && method !== 'DELETE' && !isSync
  return (...args) => {
    const path = pathOf(template, args)
    const records = isSync ? args.shift() : undefined
    if (isSync && !Array.isArray(records)) throw new TypeError('records must be an array')
    const input = has('input') ? args.shift() : undefined
    const { machine, idempotencyKey, ...fields } = input ?? {}
    const options = args.shift() ?? {}
    if (options.idempotencyKey !== undefined && !has('idempotent'))
      throw new TypeError(`${method} ${template} takes no idempotency key`)
    const isBeside = (name) => !hasBody || beside.includes(name)
    const pick = (inQuery) =>
      Object.fromEntries(Object.entries(fields).filter(([name]) => isBeside(name) === inQuery))
    const request = {
      ...{
        method,
        path,
        isText: has('text'),
        answers503: has('503'),
        signal: options.signal,
        query: pick(true),
      },
      // a body of lines has at least one
      ...(isSync && {
        body: records.length > 0 ? records : { records },
        ...(machine && { headers: { 'x-machine': machine } }),
      }),
      ...(hasBody && input !== undefined && { body: pick(false) }),
      ...(has('idempotent') && { idempotencyKey: options.idempotencyKey ?? idempotencyKey }),
    }
    if (!has('list')) return transport.send(request)
    return new List((page) =>
      transport.send({ ...request, query: { ...request.query, ...(page && { page }) } }),
    )
  }
}

export class CloudAnalytics {
  constructor(options) {
    const transport = new Transport(options)
    for (const [key, row] of Object.entries(METHODS)) {
      const names = key.split('.')
      const name = names.pop()
      let resource = this
      for (const part of names) resource = resource[part] ??= {}
      resource[name] = methodOf(transport, row)
    }
  }
}
