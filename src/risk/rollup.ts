import type { ISql } from '../db/client.ts'
import type { CountedRisk } from './prepare.ts'

/**
 * Brings the counts of risk scores from `before` to `after` (the same pull requests as they were and as they are). Call it in
 * the transaction that writes them, behind the organization's lock.
 */
export async function moveRiskRollups(
  tx: ISql,
  orgId: string,
  before: readonly CountedRisk[],
  after: readonly CountedRisk[],
): Promise<void> {
  const cells = new Map<string, { repo: string; rating: string; day: string; prs: number }>()
  const count = (risk: CountedRisk, by: 1 | -1) => {
    for (const repo of [risk.repo, '']) {
      for (const rating of [risk.rating, '']) {
        const key = `${risk.day} ${rating} ${repo}`
        const cell = cells.get(key) ?? { repo, rating, day: risk.day, prs: 0 }
        cell.prs += by
        cells.set(key, cell)
      }
    }
  }
  for (const risk of before) count(risk, -1)
  for (const risk of after) count(risk, 1)
  const changes = [...cells.values()].filter((cell) => cell.prs !== 0)
  if (changes.length === 0) return
  await tx`
    insert into risk_rollups as r (org_id, repo, rating, bucket, prs)
    select ${orgId}, c.*
    from unnest(
      ${changes.map((cell) => cell.repo)}::text[],
      ${changes.map((cell) => cell.rating)}::text[],
      ${changes.map((cell) => cell.day)}::date[],
      ${changes.map((cell) => cell.prs)}::bigint[]
    ) as c
    on conflict (org_id, repo, rating, bucket) do update set prs = r.prs + excluded.prs`
  await tx`
    delete from risk_rollups r
    using unnest(
      ${changes.map((cell) => cell.repo)}::text[],
      ${changes.map((cell) => cell.rating)}::text[],
      ${changes.map((cell) => cell.day)}::date[]
    ) as c (repo, rating, bucket)
    where r.org_id = ${orgId}
      and r.repo = c.repo
      and r.rating = c.rating
      and r.bucket = c.bucket
      and r.prs = 0`
}
