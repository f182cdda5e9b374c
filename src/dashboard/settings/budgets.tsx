import type { BudgetPage, ScopedBudget } from '../../features/budgets/model.ts'
import { request, useApi } from '../client/api.ts'
import { today } from '../client/days.ts'
import { useMembers } from '../client/lists.ts'
import type { PageProps } from '../client/page-props.ts'
import { Asked } from '../parts/asked.tsx'
import { Saying, useChanges } from '../parts/change.tsx'
import { dollarColumn, textColumn } from '../parts/columns.tsx'
import { Choice } from '../parts/field.tsx'
import { pick } from '../parts/filters.tsx'
import { Form, Input } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Empty } from '../parts/show.tsx'

const SCOPES = [
  ['', 'the organization'],
  ['project', 'a project'],
  ['member', 'a member'],
  ['team', 'a team'],
] as const

/** An empty name is sent too: without it the limit would be the organization's. */
const budgetPath = (month = '', scope: Readonly<Record<string, string | undefined>>) =>
  `/budgets/${month}?${new URLSearchParams(Object.entries(scope).map(([of, name = '']) => [of, name]))}`

/** Sets the monthly limits of the organization, its projects, members and teams, each in force until the next. */
export function BudgetSettings({ route: { query } }: PageProps) {
  const { count, said, run } = useChanges()
  const budgets = useApi<BudgetPage>('/budgets', pick(query, 'page'), count)
  const members = useMembers(true)
  const remove = ({ month, scope }: ScopedBudget) =>
    run(() => request(budgetPath(month, scope), { method: 'DELETE' }), 'Deleted')
  const nameOf = ({ project, member, team }: ScopedBudget['scope']) =>
    project
      ? `project ${project}`
      : team
        ? `team ${team}`
        : member
          ? (members.get(member)?.name ?? member)
          : 'the organization'
  return (
    <>
      <Form
        title="Monthly limit"
        send="Set the limit"
        onSend={({ month, limit, of = '', name }) =>
          run(() => {
            const path = budgetPath(month, of === '' ? {} : { [of]: name })
            return request(path, { method: 'PUT', body: { limit: Number(limit) } })
          })
        }
      >
        <Choice label="Of" name="of" value="" options={SCOPES} />
        <Input
          label="Its name, or the member’s address (none for the organization)"
          name="name"
          maxLength={320}
        />
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
        noun="limits"
        empty={<Empty>No limit is set.</Empty>}
        caption="Limits"
        keyOf={(budget) => JSON.stringify(budget)}
        columns={[
          { name: 'Of', cell: ({ scope }) => <bdi>{nameOf(scope)}</bdi> },
          textColumn('From', 'month'),
          dollarColumn('A month', 'limit'),
          {
            name: 'Change',
            cell: (budget) => (
              <Asked question="Delete? The limit before it holds on" act={() => remove(budget)}>
                Delete
              </Asked>
            ),
          },
        ]}
      />
    </>
  )
}
