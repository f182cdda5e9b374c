import { expect, test } from 'bun:test'
import { memoize } from '../../../src/base/memoize.ts'
import { createSecretBox, memoizedOpen } from '../../../src/webhooks/signing/secret-box.ts'
import { startInChunks } from '../../../src/webhooks/worker/loop.ts'

// A delivery does not compute a key again, and long lists of them let other work in between.

const numbers = (count: number, first = 0) => Array.from({ length: count }, (_, at) => first + at)

test('starts what it is given in its order, and lets others work in between', async () => {
  const seen: (number | string)[] = []
  const start = startInChunks<number>((number) => {
    seen.push(number)
    // given while others wait, and after the last one
    if (number === 3 || number === 99) start([number * 100])
  })
  start(numbers(50))
  start([])
  start(numbers(50, 50))
  expect(seen).toEqual([])
  while (!seen.includes(9_900) && seen.length < 1_000) {
    await new Promise((resolve) => setImmediate(resolve))
    seen.push('other')
  }
  expect(seen.filter((each) => each !== 'other')).toEqual([...numbers(100), 300, 9_900])
  const others = seen.slice(0, seen.indexOf(99)).filter((each) => each === 'other')
  expect(others.length).toBeGreaterThan(5)
})

test('asks once for each key, not again for what was thrown, and forgets the oldest', () => {
  const asked: string[] = []
  const ask = memoize((key) => {
    asked.push(key)
    if (key === 'bad' && asked.length < 3) throw new Error('bad')
    return key.length
  })
  expect(() => ask('bad')).toThrow('bad')
  expect(() => ask('bad')).toThrow('bad')
  expect([ask('bad'), ask('bad'), ask('other')]).toEqual([3, 3, 5])
  expect(asked).toEqual(['bad', 'bad', 'bad', 'other'])
  for (const number of numbers(1_000)) ask(`${number}`)
  asked.length = 0
  ask('999')
  ask('other')
  expect(asked).toEqual(['other'])
})

test('a secret that was opened once is opened at no other place', () => {
  const box = createSecretBox(new Uint8Array(32).fill(1))
  const opening = memoizedOpen(box)
  const sealed = box.seal('whsec_hush', 'org_1/hook_1')
  expect(opening.open(sealed, 'org_1/hook_1')).toBe('whsec_hush')
  expect(opening.open(sealed, 'org_1/hook_1')).toBe('whsec_hush')
  for (const context of ['org_1/hook_2', 'org_2/hook_1', '']) {
    expect(() => opening.open(sealed, context)).toThrow('a secret cannot be decrypted')
  }
  const rotated = box.seal('whsec_new', 'org_1/hook_1')
  expect(opening.open(rotated, 'org_1/hook_1')).toBe('whsec_new')
})
