import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import { useApi } from '../client/api.ts'
import { formatDollars } from '../client/format.ts'
import { Answer, Ready, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { dollarColumn, wholeColumn } from '../parts/values.tsx'

/** The page `Seats` says what was used where nothing is entered of what is paid. */
export function NoSeats({ dates }: { dates: { date_from: string; date_to: string } }) {
  const used = useApi<Breakdown>('/cost/breakdown', { by: 'agent', ...dates, per_page: 100 })
  const cost = used.value?.total.cost
  return (
    <Ready of={[used]}>
      <Answer soft="Enter what is paid: a plan of each person, or seats that are shared by everybody without one.">
        {cost !== undefined && `What was used would have cost ${formatDollars(cost)} by API. `}
        No seats are entered, so this page cannot say what they are worth.
      </Answer>
      <Show loaded={used} what="what was used">
        {({ data }) =>
          data.length > 0 && (
            <Table
              caption="What was used"
              rows={data}
              keyOf={({ key }) => key ?? ''}
              columns={[
                {
                  name: 'Agent',
                  value: ({ key }) => key,
                  cell: ({ key }) => <bdi>{key ?? 'unknown'}</bdi>,
                },
                wholeColumn('Sessions', 'sessions'),
                { ...dollarColumn('API-equivalent', 'cost'), phone: 'main' },
              ]}
            />
          )
        }
      </Show>
    </Ready>
  )
}
