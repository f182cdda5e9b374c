import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import type { CountedRisk } from './prepare.ts'

/**
 * Updates the counts of risk scores by the difference between `before` and `after`: the same pull requests as they were
 * stored and as they are now. Needs the organization's lock, in the transaction that writes the scores.
 */
export async function updateRiskRollups(
  tx: ISql,
  orgId: string,
  before: readonly CountedRisk[],
  after: readonly CountedRisk[],
): Promise<void> {
  const byKey = new Map<
    string,
    { repo: string; rating: string; state: string; bucket: string; prs: number }
  >()
  const count = (
    { repo: own, rating: ownRating, state: ownState, day: bucket }: CountedRisk,
    sign: 1 | -1,
  ) => {
    for (const repo of [own, '']) {
      for (const rating of [ownRating, '']) {
        for (const state of [ownState, '']) {
          const key = `${bucket} ${rating} ${state} ${repo}`
          const change = byKey.get(key) ?? { repo, rating, state, bucket, prs: 0 }
          change.prs += sign
          byKey.set(key, change)
        }
      }
    }
  }
  for (const risk of before) count(risk, -1)
  for (const risk of after) count(risk, 1)
  const changes = [...byKey.values()].filter(({ prs }) => prs !== 0)
  if (changes.length === 0) return
  await tx`
    insert into risk_rollups as r (org_id, repo, rating, state, bucket, prs)
    select ${orgId}, n.*
    from ${unnest(tx, changes, { repo: 'text', rating: 'text', state: 'text', bucket: 'date', prs: 'bigint' })}
    on conflict (org_id, repo, rating, state, bucket) do update set prs = r.prs + excluded.prs`
  await tx`
    delete from risk_rollups r
    using ${unnest(tx, changes, { repo: 'text', rating: 'text', state: 'text', bucket: 'date' })}
    where r.org_id = ${orgId}
      and r.repo = n.repo
      and r.rating = n.rating
      and r.state = n.state
      and r.bucket = n.bucket
      and r.prs = 0`
}
