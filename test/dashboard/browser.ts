import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Chromium by its own protocol, for tests of the dashboard and for the README's picture.

/** The first Chromium of this machine; null without one. */
export const findBrowser = (): string | null =>
  process.env.CHROMIUM ?? Bun.which('chromium') ?? Bun.which('chromium-browser') ?? Bun.which('google-chrome')

interface Message {
  id?: number
  method?: string
  sessionId?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { message: string }
}

export interface Page {
  /** Goes to a URL and waits until the page has loaded. */
  open(url: string): Promise<void>
  /** The value of an expression; a promise is awaited. */
  evaluate<Value>(expression: string): Promise<Value>
  /** Waits until the expression is true. */
  until(expression: string, timeoutMs?: number): Promise<void>
  /** The middle of the element that the expression names, once it is there and nothing moves it: content above it, or its own width. */
  middleOf(element: string): Promise<{ x: number; y: number }>
  /** Clicks the middle of the element that the expression names, with a mouse or a finger. */
  click(element: string, by?: 'mouse' | 'touch'): Promise<void>
  /** Clicks a point of the window. */
  clickAt(x: number, y: number, by?: 'mouse' | 'touch'): Promise<void>
  /** Presses a key such as `Tab` or `Enter`. */
  press(key: string): Promise<void>
  /** Writes into what has the focus. */
  type(text: string): Promise<void>
  resize(width: number, height: number, scheme?: 'light' | 'dark'): Promise<void>
  /** The browser shows this page, and no other one. */
  front(): Promise<void>
  /** The browser's time zone, as `Asia/Kolkata`; empty for its own. */
  zone(name: string): Promise<void>
  /** A PNG of the whole page. */
  screenshot(): Promise<Uint8Array>
  /** Errors and warnings that the page wrote to its console, and files it could not load. */
  problems: string[]
  /** The URLs that the page asked for. */
  requests: string[]
  /** The URLs whose responses have begun to arrive. */
  responses: string[]
  /** The URLs that the document asked for that was opened last: none of those of the document before it. */
  ownRequests(): string[]
}

export interface Browser {
  newPage(): Promise<Page>
  close(): Promise<void>
}

const KEY_CODES: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  ' ': 32,
  ArrowLeft: 37,
  ArrowRight: 39,
  End: 35,
}
const START_TIMEOUT_MS = 90_000
const WAIT_MS = 60_000

/** Starts Chromium without a window; it resolves `dashboard.test` to this machine, which is no secure context. */
export async function startBrowser(program: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'cloud-analytics-browser-'))
  const browser = Bun.spawn({
    cmd: [
      program,
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--hide-scrollbars',
      '--no-first-run',
      '--host-resolver-rules=MAP dashboard.test 127.0.0.1',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const address = await addressOf(browser.stderr)
  const protocol = await connect(address)
  return {
    newPage: () => openPage(protocol),
    async close() {
      protocol.close()
      browser.kill('SIGKILL')
      await browser.exited
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function addressOf(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const late = AbortSignal.timeout(START_TIMEOUT_MS)
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stderr) {
    text += decoder.decode(bytes, { stream: true })
    const found = /listening on (ws:\S+)/.exec(text)?.[1]
    if (found !== undefined) return found
    late.throwIfAborted()
  }
  throw new Error(`Chromium did not start: ${text.slice(-500)}`)
}

interface Protocol {
  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>>
  listen(sessionId: string, listener: (method: string, params: Record<string, unknown>) => void): void
  close(): void
}

async function connect(address: string): Promise<Protocol> {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>()
  const listeners = new Map<string, (method: string, params: Record<string, unknown>) => void>()
  let next = 1
  socket.onmessage = ({ data }) => {
    const { id, method, sessionId, params, result, error } = JSON.parse(String(data)) as Message
    if (method !== undefined) listeners.get(sessionId ?? '')?.(method, params ?? {})
    if (id === undefined) return
    if (error === undefined) waiting.get(id)?.resolve(result ?? {})
    else waiting.get(id)?.reject(new Error(error.message))
    waiting.delete(id)
  }
  return {
    send(method, params = {}, sessionId) {
      const id = next++
      const answer = Promise.withResolvers<Record<string, unknown>>()
      waiting.set(id, answer)
      socket.send(JSON.stringify({ id, method, params, sessionId }))
      return answer.promise
    },
    listen: (sessionId, listener) => void listeners.set(sessionId, listener),
    close: () => socket.close(),
  }
}

async function openPage({ send, listen }: Protocol): Promise<Page> {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
  const session = String(sessionId)
  const call = (method: string, params?: object) => send(method, params, session)
  const problems: string[] = []
  const requests: string[] = []
  const responses: string[] = []
  // Chromium gives each document the id of its loader: events of the document before may still arrive after a navigation
  const sent: { url: string; loaderId: unknown }[] = []
  const loaded = new Set<unknown>()
  let current: unknown
  let onLoad = () => {}
  listen(session, (method, params) => {
    if (method === 'Page.lifecycleEvent' && params.name === 'load') {
      loaded.add(params.loaderId)
      onLoad()
    }
    if (method === 'Runtime.exceptionThrown') problems.push(JSON.stringify(params))
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(String(params.type)))
      problems.push(JSON.stringify(params.args))
    if (method === 'Log.entryAdded') problems.push(JSON.stringify(params.entry))
    if (method === 'Network.responseReceived')
      responses.push((params.response as { url: string } | undefined)?.url ?? '')
    if (method === 'Network.requestWillBeSent') {
      const url = (params.request as { url: string } | undefined)?.url ?? ''
      requests.push(url)
      sent.push({ url, loaderId: params.loaderId })
    }
  })
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await call(`${domain}.enable`)
  await call('Page.setLifecycleEventsEnabled', { enabled: true })
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const options = { expression, awaitPromise: true, returnByValue: true }
    const ask = () => call('Runtime.evaluate', options)
    // the page was left while it was asked: the next document answers
    const { result, exceptionDetails } = await ask().catch((error: Error) => {
      if (!/navigated or closed|context was destroyed/.test(error.message)) throw error
      return ask()
    })
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
    return (result as { value: Value }).value
  }
  const clickAt = async (x: number, y: number, by: 'mouse' | 'touch' = 'mouse') => {
    if (by === 'touch') {
      await call('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] })
      await call('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
      return
    }
    await call('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y })
    for (const type of ['mousePressed', 'mouseReleased'])
      await call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 })
  }
  const middleOf = async (element: string) => {
    const middle = () =>
      evaluate<{ x: number; y: number } | null>(`{
        const element = ${element}
        element?.scrollIntoView({ block: 'center' })
        const { x, y, width, height } = element?.getBoundingClientRect() ?? {}
        element ? { x: x + width / 2, y: y + height / 2 } : null
      }`)
    const deadline = performance.now() + WAIT_MS
    for (let before = await middle(); performance.now() < deadline; ) {
      await Bun.sleep(60)
      const place = await middle()
      if (place !== null && place.x === before?.x && place.y === before.y) return place
      before = place
    }
    throw new Error(`not there, or moving all the time: ${element}`)
  }
  return {
    problems,
    requests,
    responses,
    ownRequests: () => sent.filter(({ loaderId }) => loaderId === current).map(({ url }) => url),
    evaluate,
    clickAt,
    middleOf,
    async click(element, by) {
      const { x, y } = await middleOf(element)
      await clickAt(x, y, by)
    },
    async press(key) {
      const code = KEY_CODES[key] ?? 0
      const text = key === 'Enter' ? { text: '\r' } : key === ' ' ? { text: ' ' } : {}
      for (const type of ['keyDown', 'keyUp'])
        await call('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode: code, ...text })
    },
    async type(text) {
      await call('Input.insertText', { text })
    },
    async open(url) {
      const { loaderId, errorText } = await call('Page.navigate', { url })
      if (errorText !== undefined) throw new Error(`${url}: ${errorText}`)
      // another fragment of the same document has no loader
      if (loaderId === undefined) return
      current = loaderId
      while (!loaded.has(loaderId))
        await new Promise<void>((resolve) => {
          onLoad = resolve
        })
    },
    async until(expression, timeoutMs = WAIT_MS) {
      const deadline = performance.now() + timeoutMs
      while (!(await evaluate<boolean>(expression))) {
        if (performance.now() > deadline) throw new Error(`not true in ${timeoutMs} ms: ${expression}`)
        await Bun.sleep(30)
      }
    },
    async resize(width, height, scheme = 'light') {
      await call('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: width < 600,
      })
      await call('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value: scheme }],
      })
    },
    async front() {
      await call('Page.bringToFront')
    },
    async zone(timezoneId) {
      await call('Emulation.setTimezoneOverride', { timezoneId })
    },
    async screenshot() {
      const { data } = await call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true })
      return Buffer.from(String(data), 'base64')
    },
  }
}
