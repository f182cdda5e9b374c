import type { MySeats } from '../../features/seats/model.ts'
import { useApi } from '../client/api.ts'
import { formatDay, formatPercent } from '../client/format.ts'
import { Bar } from '../frame/bar.tsx'
import { Answer, Ready, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { columnOf, textColumn, timeColumn } from '../parts/values.tsx'
import { nameOfPlan } from './plan-form.tsx'

/** Shows one’s own plans and limits, without prices. */
export function OwnSeats() {
  const mine = useApi<MySeats>('/seats/mine')
  return (
    <>
      <Bar filters={[]} usual={null} />
      <Ready of={[mine]}>
        <Show loaded={mine} what="your limits">
          {({ plans, windows }) => (
            <>
              <Answer soft="What your agents’ files state of your plans’ limits; prices and other people’s seats are shown to admins.">
                {plans.length === 0
                  ? 'No plan of yours is entered'
                  : `You have ${plans.map((plan) => `${nameOfPlan(plan)} since ${formatDay(plan.from)}`).join(' and ')}`}
                {windows.length === 0
                  ? '.'
                  : `; most of a limit is used: ${formatPercent(Math.max(...windows.map(({ used_percent }) => used_percent)))}.`}
              </Answer>
              <Table
                caption="Your limits"
                rows={windows}
                columns={[
                  {
                    name: 'Limit',
                    cell: ({ limit, scope }) =>
                      `${limit.replaceAll('_', ' ')}${scope === null ? '' : ` (${scope})`}`,
                  },
                  { ...textColumn('Vendor', 'vendor'), phone: 'also' },
                  { ...columnOf(formatPercent, 'number')('Used', 'used_percent'), phone: 'main' },
                  { ...timeColumn('Resets', 'resets_at'), phone: 'also' },
                  { name: 'Hit', cell: ({ hit }) => (hit ? 'yes' : '') },
                ]}
              />
            </>
          )}
        </Show>
      </Ready>
    </>
  )
}
