import type { BudgetPage } from '../../features/budgets/model.ts'
import { request, useApi } from '../client/api.ts'
import { today } from '../client/days.ts'
import type { PageProps } from '../client/page-props.ts'
import { Asked } from '../parts/asked.tsx'
import { Saying, useChanges } from '../parts/change.tsx'
import { dollarColumn, textColumn } from '../parts/columns.tsx'
import { pick } from '../parts/filters.tsx'
import { Form, Input } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Empty } from '../parts/show.tsx'

/** Sets the monthly limits, each in force until the next. */
export function BudgetSettings({ route: { query } }: PageProps) {
  const { count, said, run } = useChanges()
  const budgets = useApi<BudgetPage>('/budgets', pick(query, 'page'), count)
  const remove = (month: string) => run(() => request(`/budgets/${month}`, { method: 'DELETE' }), 'Deleted')
  return (
    <>
      <Form
        title="Monthly limit"
        send="Set the limit"
        onSend={({ month, limit }) =>
          run(() => request(`/budgets/${month}`, { method: 'PUT', body: { limit: Number(limit) } }))
        }
      >
        <Input
          label="From the month"
          name="month"
          required
          pattern="\d{4}-\d{2}"
          placeholder="2026-11"
          defaultValue={today().slice(0, 7)}
        />
        <Input label="US dollars a month" name="limit" type="number" required min={0.01} step="any" />
      </Form>
      <Saying said={said} />
      <List
        loaded={budgets}
        {...{ page: 'settings', id: 'budget', query, noun: 'limits' }}
        empty={<Empty>No limit is set.</Empty>}
        caption="Limits"
        keyOf={({ month }) => month}
        columns={[
          textColumn('From', 'month'),
          dollarColumn('A month', 'limit'),
          {
            name: 'Change',
            cell: ({ month }) => (
              <Asked question="Delete? The limit before it holds on" act={() => remove(month)}>
                Delete
              </Asked>
            ),
          },
        ]}
      />
    </>
  )
}
