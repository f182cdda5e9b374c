import { expect, test } from 'bun:test'
import type { Effect } from '../../../src/features/effects/model.ts'
import { saidVerdict } from '../../../src/features/effects/said.ts'

test('too few says of what', () => {
  const said = (changed: number, by: 'member' | 'team' | 'repository') =>
    saidVerdict({
      ...{ verdict: 'too_few', changed, others: 7, clusters: { by, changed: 3, others: 3 } },
    } as Effect)
  expect(said(4, 'member')).toBe('Too few: it needs five of each side')
  expect(said(7, 'team')).toBe('Too few teams: their people changed together')
  expect(said(7, 'repository')).toBe('Too few repositories: their people changed together')
  expect(said(7, 'member')).toBe('Too few: the work of one or two decides')
})
