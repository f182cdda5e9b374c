import type { Sql } from '../../database/client.ts'

/** The second keys `largest` of `pairs`: half of them cost most, the others changed most since `earlier_pairs`. */
export const changedMost = (sql: Sql, top: number) => sql`
  weighed as materialized (
    select coalesce(p.and_key, '') as and_key, sum(p.now) as now, sum(p.now - p.before) as change
    from (
      select s.and_key, s.micros as now, 0 as before from pairs s
      union all
      select e.and_key, 0, e.micros from earlier_pairs e
    ) p
    group by 1
  ),
  dearest as materialized (
    select w.and_key
    from weighed w
    order by w.now desc, w.and_key collate "C"
    limit ${Math.ceil(top / 2)}
  ),
  largest as materialized (
    select d.and_key
    from dearest d
    union all
    (
      select w.and_key
      from weighed w
      where w.and_key not in (select d.and_key from dearest d)
      order by abs(w.change) desc, w.and_key collate "C"
      limit ${Math.floor(top / 2)}
    )
  ),`
