import { noParts, type SessionFragments, type TurnFragment } from '../../../src/analysis/records/fragments.ts'

// Parts of sessions, with what a test is not about.

/** The parts of a transcript from and to these times, in which nothing was done. */
export const emptyParts = (times: SessionFragments['times']): SessionFragments => ({
  ...noParts('claude-code'),
  ...{ times, project: { rank: 3, at: times.from } },
})

/** An answer of a model without tokens. */
export const answerPart = (id: string, over: Partial<TurnFragment> = {}): TurnFragment => ({
  ...{ id, role: 'assistant', at: null, position: 0, model: null, tokens: null },
  ...{ cost: null, estimate: null, searches: 0 },
  ...over,
})
