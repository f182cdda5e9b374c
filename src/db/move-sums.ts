import type { ISql } from './client.ts'

/** A table of counts and sums by project. Its key is org_id, project and `key`. */
export interface ProjectSums {
  name: string
  key: readonly string[]
  sums: readonly string[]
  /** Columns with the least, and with the greatest, value of what is counted. */
  least?: readonly string[]
  greatest?: readonly string[]
}

/** The project's old name and its new one, which may have data already. */
export interface Renaming {
  from: string
  to: string
}

/** Adds the sums of one project to those of another, and deletes them. Needs the organization's lock. */
export async function moveSums(
  tx: ISql,
  orgId: string,
  { name, key, sums, least = [], greatest = [] }: ProjectSums,
  { from, to }: Renaming,
): Promise<void> {
  const values = [...sums, ...least, ...greatest]
  const columns = tx.unsafe([...key, ...values].join(', '))
  const merged = [
    ...sums.map((column) => `${column} = t.${column} + excluded.${column}`),
    ...least.map((column) => `${column} = least(t.${column}, excluded.${column})`),
    ...greatest.map((column) => `${column} = greatest(t.${column}, excluded.${column})`),
  ]
  await tx`
    insert into ${tx(name)} as t (org_id, project, ${columns})
    select f.org_id, ${to}, ${tx.unsafe([...key, ...values].map((column) => `f.${column}`).join(', '))}
    from ${tx(name)} f
    where f.org_id = ${orgId}
      and f.project = ${from}
    on conflict (org_id, project, ${tx.unsafe(key.join(', '))}) do update set
      ${tx.unsafe(merged.join(', '))}`
  await tx`
    delete from ${tx(name)} t
    where t.org_id = ${orgId}
      and t.project = ${from}`
}
