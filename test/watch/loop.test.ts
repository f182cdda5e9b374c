import { expect, test } from 'bun:test'
import { follow } from '../../src/cli/watch/loop.ts'

const START_MS = Date.parse('2026-03-04T10:00:00Z')
const HOUR_MS = 3_600_000
const QUIET_MS = 30_000
const GROWING_MS = 300_000

/** Follows a session to the end, by a clock of its own; `writtenMs` is the time when it was last written to. */
async function followed(writtenMs: (nowMs: number) => number) {
  const stopped = new AbortController()
  let nowMs = START_MS
  let looks = 0
  let syncs = 0
  const sentMs: number[] = []
  await follow({
    hasPaths: () => true,
    stamps: async () => {
      looks += 1
      const mtimeMs = writtenMs(nowMs)
      return new Map([['a', { size: mtimeMs - START_MS, mtimeMs }]])
    },
    // the rule of `sync --settled`
    async sync(isFirst) {
      syncs += 1
      const lastMs = sentMs.at(-1) ?? START_MS
      const growing = !isFirst && nowMs - writtenMs(nowMs) < QUIET_MS && nowMs - lastMs < GROWING_MS
      if (!growing) sentMs.push(nowMs)
      nowMs += 400
      return { failure: null, growing: growing ? 1 : 0 }
    },
    now: () => nowMs,
    async sleep(ms) {
      nowMs += Math.ceil(ms)
      if (nowMs >= START_MS + HOUR_MS) stopped.abort()
    },
    stopped: stopped.signal,
  })
  const gaps = sentMs.slice(1).map((ms, index) => ms - (sentMs[index] ?? START_MS))
  return { looks, syncs, sentMs, longestMs: Math.max(...gaps) }
}

test.each([1, 5, 14, 17, 20, 23, 26, 29])(
  'a session that is written to every %d s is sent every 5 minutes, and not looked for in between',
  async (seconds) => {
    const everyMs = seconds * 1_000
    const { looks, syncs, sentMs, longestMs } = await followed((ms) => ms - ((ms - START_MS) % everyMs))
    expect(syncs).toBe(sentMs.length)
    expect(syncs).toBeGreaterThanOrEqual(11)
    expect(syncs).toBeLessThanOrEqual(12)
    // the first change after a sync is seen by a look
    expect(longestMs).toBeLessThan(GROWING_MS + everyMs + 17_500)
    expect(looks).toBeLessThan(500)
  },
)

test('a session that ended is sent once, when it was quiet for 30 s', async () => {
  const endMs = START_MS + 100_000
  const { syncs, sentMs } = await followed((ms) => Math.min(ms, endMs))
  expect(syncs).toBe(2)
  expect(sentMs[1]).toBeGreaterThanOrEqual(endMs + QUIET_MS)
  expect(sentMs[1]).toBeLessThan(endMs + QUIET_MS + 2_000)
})

test('files that are gone are not sent, and what was left out as it grows is sent when it ends', async () => {
  const endMs = START_MS + 200_000
  const stopped = new AbortController()
  const syncsMs: number[] = []
  let nowMs = START_MS
  await follow({
    hasPaths: () => true,
    async stamps() {
      const until = (lastMs: number) => ({ size: 1, mtimeMs: Math.min(nowMs, lastMs) })
      const files = new Map([
        ['growing', until(endMs)],
        ['ended', until(START_MS + 60_000)],
      ])
      return nowMs < START_MS + 20_000 ? files.set('gone', until(nowMs)) : files
    },
    async sync() {
      syncsMs.push(nowMs)
      return { failure: null, growing: nowMs < endMs ? 1 : 0 }
    },
    now: () => nowMs,
    async sleep(ms) {
      nowMs += Math.ceil(ms)
      if (nowMs >= START_MS + HOUR_MS) stopped.abort()
    },
    stopped: stopped.signal,
  })
  const [first, ended = 0, growing = 0, ...others] = syncsMs
  expect([first, others]).toEqual([START_MS, []])
  expect(ended).toBeGreaterThanOrEqual(START_MS + 60_000 + QUIET_MS)
  expect(ended).toBeLessThan(START_MS + 60_000 + QUIET_MS + 17_500)
  expect(growing).toBeGreaterThanOrEqual(endMs + QUIET_MS)
  expect(growing).toBeLessThan(endMs + QUIET_MS + 2_000)
})

test('a file that was gone and is put back as it was is sent again', async () => {
  const stopped = new AbortController()
  const syncsMs: number[] = []
  let nowMs = START_MS
  const file = { size: 1, mtimeMs: START_MS - HOUR_MS }
  await follow({
    hasPaths: () => true,
    async stamps() {
      const isGone = nowMs > START_MS + 100_000 && nowMs < START_MS + 200_000
      return isGone ? new Map() : new Map([['a', file]])
    },
    async sync() {
      syncsMs.push(nowMs - START_MS)
      return { failure: null, growing: 0 }
    },
    now: () => nowMs,
    async sleep(ms) {
      nowMs += Math.ceil(ms)
      if (nowMs >= START_MS + 400_000) stopped.abort()
    },
    stopped: stopped.signal,
  })
  expect(syncsMs).toHaveLength(2)
  expect(syncsMs[1]).toBeWithin(200_000, 240_000)
})
