import { useState } from 'preact/hooks'
import type { MonthBudgetPage } from '../../settings/budget-model.ts'
import { getJson, pathOf, request, useLoaded } from '../client/api.ts'
import { today } from '../client/days.ts'
import { formatDollars } from '../client/format.ts'
import { Asked } from '../parts/asked.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { Saying, useChanges } from './change.tsx'
import type { SectionProps } from './section.ts'

/** Sets the monthly limits, each in force until the next. */
export function BudgetSettings({ query }: SectionProps) {
  const { count, said, run } = useChanges()
  const [month, setMonth] = useState(today().slice(0, 7))
  const [limit, setLimit] = useState('')
  const page = query.get('page') ?? undefined
  const budgets = useLoaded(`budgets ${page} ${count}`, (signal) =>
    getJson<MonthBudgetPage>(pathOf('/budgets', { page }), { signal }),
  )
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await run(() => request(`/budgets/${month}`, { method: 'PUT', body: { limit: Number(limit) } }))
  }
  return (
    <>
      <form class="settings" onSubmit={(event) => void submit(event)}>
        <h2>Monthly limit</h2>
        <label>
          From the month
          <input
            required
            pattern="\d{4}-\d{2}"
            placeholder="2026-11"
            value={month}
            onInput={({ currentTarget }) => setMonth(currentTarget.value)}
          />
        </label>
        <label>
          US dollars a month
          <input
            type="number"
            required
            min={0.01}
            step="any"
            value={limit}
            onInput={({ currentTarget }) => setLimit(currentTarget.value)}
          />
        </label>
        <button type="submit">Set the limit</button>
      </form>
      <Saying said={said} />
      <Show loaded={budgets} what="budgets">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty>No limit is set.</Empty>
          ) : (
            <>
              <Table
                caption="Limits"
                rows={data}
                keyOf={(budget) => budget.month}
                columns={[
                  { name: 'From', cell: (budget) => budget.month },
                  { name: 'A month', isNumber: true, cell: (budget) => formatDollars(budget.limit) },
                  {
                    name: 'Change',
                    cell: (budget) => (
                      <Asked
                        question="Delete? The limit before it holds on"
                        act={async () =>
                          void (await run(
                            () => request(`/budgets/${budget.month}`, { method: 'DELETE' }),
                            'Deleted',
                          ))
                        }
                      >
                        Delete
                      </Asked>
                    ),
                  },
                ]}
              />
              <Pager pagination={pagination} page="settings" id="budget" query={query} noun="limits" />
            </>
          )
        }
      </Show>
    </>
  )
}
