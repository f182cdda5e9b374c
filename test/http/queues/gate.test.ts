import { expect, test } from 'bun:test'
import { createGate } from '../../../src/http/queues/gate.ts'

const KIB = 1024
const PLENTY = { total: 100, each: 100, waiting: 100 }

/** Requests of organizations, which are named by the first letter, and those that have a place for work. */
function working(limits: Parameters<typeof createGate>[0]) {
  const gate = createGate(limits)
  const requests = new Map<string, Request>()
  const begun: string[] = []
  const begin = async (name: string, bytes = 1, client = new AbortController()) => {
    const request = new Request('http://localhost', { signal: client.signal })
    requests.set(name, request)
    const pass = gate.pass(request, name.slice(0, 1))
    await pass.takeWork(bytes)
    begun.push(name)
    return pass.signal
  }
  const end = async (name: string) => {
    gate.release(requests.get(name) ?? new Request('http://localhost'))
    await Bun.sleep(0)
  }
  return { gate, begun, begin, end }
}

test('an organization has so many requests in work, and those that wait begin in turn with others', async () => {
  const { begun, begin, end } = working({ work: { total: 3, each: 2, waiting: 10 } })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void begin(name)
  await Bun.sleep(0)
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await end('a1')
  await end('a1')
  expect(begun.slice(3)).toEqual(['a3'])
  await end('b1')
  expect(begun.slice(4)).toEqual(['b2'])
  await end('a2')
  expect(begun.slice(5)).toEqual(['c1'])
})

test('a body that has come counts until the response, as 8 KiB at least, and what finds no room waits', async () => {
  const small = { total: 64 * KIB, each: 16 * KIB, waiting: 16 * KIB }
  const { begun, begin, end } = working({ small, work: PLENTY })
  const waiting = ['a1', 'a2', 'a3', 'a4'].map((name) => begin(name))
  const other = begin('b1', 16 * KIB)
  await expect(begin('a5')).rejects.toMatchObject({
    code: 'BUSY',
    options: { retryAfterS: 5 },
  })
  await other
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await end('a1')
  await end('a2')
  await Promise.all(waiting)
})

test('a client that leaves while it waits makes room, and one that leaves later ends its work', async () => {
  const { begun, begin, end } = working({ work: { total: 1, each: 1, waiting: 1 } })
  const [first, second] = [new AbortController(), new AbortController()]
  const signal = await begin('a1', 1, first)
  const left = begin('a2', 1, second)
  second.abort()
  await expect(left).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: 'The client went away' })
  const next = begin('a3')
  expect(signal.aborted).toBe(false)
  first.abort()
  expect(signal.reason).toMatchObject({ code: 'VALIDATION_ERROR', message: 'The client went away' })
  // it has its place until it is answered
  expect(begun).toEqual(['a1'])
  await end('a1')
  await next
})

test('the time of a request ends its wait, and its work, with 503', async () => {
  const { begin } = working({ work: { total: 1, each: 1, waiting: 1 }, untilWritingMs: 20 })
  const signal = await begin('a1')
  const late = { code: 'BUSY', options: { retryAfterS: 2 } }
  await expect(begin('a2')).rejects.toMatchObject(late)
  expect(signal.reason).toMatchObject(late)
})

test('after a stop nothing waits', async () => {
  const { gate, begin } = working({ work: { total: 1, each: 1, waiting: 1 } })
  await begin('a1')
  const waiting = begin('a2')
  gate.stop()
  await expect(waiting).rejects.toMatchObject({ code: 'BUSY' })
  await expect(begin('b1')).rejects.toMatchObject({ code: 'BUSY' })
})

/** Long beside what a busy machine takes between two steps of the test. */
const HELD_MS = 250

test('a body that has lost its place after its time takes a new one, which ends after the same time', async () => {
  const gate = createGate({ large: { total: 1, each: 1, waiting: 10 }, holdMs: HELD_MS })
  const passOf = (orgId: string) => gate.pass(new Request('http://localhost'), orgId)
  const slow = passOf('a')
  await slow.takeSmall(1, 1)
  // the time for which a place is held is tested
  await Bun.sleep(2 * HELD_MS)
  await slow.takeLarge()
  // the time for which a place is held is tested
  await Bun.sleep(2 * HELD_MS)
  const other = passOf('b')
  await other.takeLarge()
  let isBack = false
  const back = slow.takeLarge().then(() => {
    isBack = true
  })
  await Bun.sleep(0)
  expect([isBack, slow.isWanted(), other.isWanted()]).toEqual([false, false, true])
  await back
})
