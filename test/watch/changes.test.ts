import { expect, test } from 'bun:test'
import { createChanges } from '../../src/cli/watch/changes.ts'

const QUIET_MS = 30_000
const GROWING_MS = 300_000
const START_MS = Date.parse('2026-03-04T10:00:00Z')

const changes = () => createChanges(QUIET_MS, GROWING_MS)
const stamp = (size: number, mtimeMs: number) => ({ size, mtimeMs })

test('a file is due after a time of quiet', () => {
  const { note, dueAtMs } = changes()
  expect(dueAtMs()).toBeUndefined()
  note('a', stamp(1, START_MS), START_MS)
  expect(dueAtMs()).toBe(START_MS + QUIET_MS)
  note('a', stamp(2, START_MS + 5_000), START_MS + 5_000)
  expect(dueAtMs()).toBe(START_MS + 5_000 + QUIET_MS)
})

test('a file that grows without quiet is due from time to time', () => {
  const { note, dueAtMs } = changes()
  for (let ms = START_MS; ms < START_MS + GROWING_MS; ms += 5_000) note('a', stamp(ms, ms), ms)
  expect(dueAtMs()).toBe(START_MS + GROWING_MS)
})

test('what was sent is not due until it changes again', () => {
  const { note, dueAtMs, pending, sent } = changes()
  note('a', stamp(1, START_MS), START_MS)
  const started = START_MS + QUIET_MS
  const files = pending()
  // written to while it was sent
  note('a', stamp(2, started + 100), started + 100)
  sent(files, started, started + 200, false)
  expect(dueAtMs()).toBe(started + 100 + QUIET_MS)
  sent(pending(), started + QUIET_MS + 100, started + QUIET_MS + 200, false)
  expect(dueAtMs()).toBeUndefined()
  note('a', stamp(2, started + 100), started + 90_000)
  expect(dueAtMs()).toBeUndefined()
})

test('what was left out as it was growing stays due', () => {
  const { note, dueAtMs, pending, sent } = changes()
  const now = START_MS + QUIET_MS
  note('quiet', stamp(1, START_MS), START_MS)
  note('growing', stamp(1, now - 1_000), START_MS)
  sent(pending(), now, now + 500, true)
  expect([...pending().keys()]).toEqual(['growing'])
  expect(dueAtMs()).toBe(now - 1_000 + QUIET_MS)
})

test('a file that is gone is not due', () => {
  const { note, dueAtMs, forget } = changes()
  note('a', stamp(1, START_MS), START_MS)
  forget((path) => path === 'a')
  expect(dueAtMs()).toBeUndefined()
})
