import { expect, test } from 'bun:test'
import type { Effect } from '../../../src/features/effects/model.ts'
import { saidVerdict } from '../../../src/features/effects/words.ts'

test('too few says of what', () => {
  const said = (changed: number, by: 'member' | 'team' | 'repository') =>
    saidVerdict({
      ...{ verdict: 'too_few', changed, others: 7, clusters: { by, changed: 3, others: 3 } },
    } as Effect)
  expect(said(4, 'member')).toBe('Too few: only 4 changed, it needs five')
  expect(said(7, 'team')).toBe('Too few teams: their people changed together')
  expect(said(7, 'repository')).toBe('Too few repositories: their people changed together')
  expect(said(7, 'member')).toBe('Too few: the work of one or two decides')
})

test('too early is only what time helps', () => {
  const said = (changed: number, others: number, evidence: Effect['evidence'] = 'compared') =>
    saidVerdict({ verdict: 'too_early', evidence, changed, others, look_at: '2026-12-21' } as Effect)
  expect(said(2, 10)).toBe('Too early: look at it on 21 Dec')
  expect(said(12, 0, 'own_past')).toBe('Too early: look at it on 21 Dec')
  expect(said(10, 2)).toBe('Too few: only 2 had not changed, it needs five')
})

test('too few of who is compared with themselves', () => {
  const said = (evidence: Effect['evidence'], changed: number, others: number) =>
    saidVerdict({ verdict: 'too_few', evidence, changed, others, clusters: null } as Effect)
  expect(said('assigned', 3, 3)).toBe('Too few: only 3 worked with and without it, it needs five')
  expect(said('own_past', 4, 0)).toBe('Too few: only 4 can be compared with their own past, it needs five')
  expect(said('own_past', 6, 0)).toBe('Too few: fewer than five people worked in these repositories')
  expect(said('compared', 6, 0)).toBe('Too few: all changed, nobody is left to compare with')
})
