// Tables of who knows which part of the code, and how many know it, for the pages `Team` and of a person.

import type { DomainExpertise, Expertise } from '../../features/members/team-model.ts'
import type { Loaded } from '../client/api.ts'
import { formatPercent, formatWhole } from '../client/format.ts'
import { Paged } from '../parts/list.tsx'
import { Empty, Show } from '../parts/show.tsx'
import type { Column } from '../parts/table.tsx'
import { columnOf, dayColumn, ScoreBar, textColumn, wholeColumn } from '../parts/values.tsx'

/** Files that are in no folder of a project make the domain `.` of it. */
const DOMAIN = columnOf((domain: string) => <bdi>{domain.replace(/\/\.$/, ', top folder')}</bdi>)(
  'Domain',
  'domain',
)

/** Columns of a person's domain. */
export const EXPERTISE: readonly Column<DomainExpertise>[] = [
  DOMAIN,
  { ...columnOf((score: number) => <ScoreBar score={score} />, 'number')('Score', 'score'), phone: 'main' },
  wholeColumn('Commits', 'commits'),
  wholeColumn('Sessions', 'sessions'),
  {
    name: 'Files owned',
    value: ({ files_owned }) => files_owned,
    number: ({ files_owned, ownership_percent }) =>
      `${formatWhole(files_owned)} (${formatPercent(ownership_percent)})`,
  },
  dayColumn('Last active', 'last_active_at'),
]

const busFactorColumn = columnOf(
  (factor: number) => <span class={factor <= 1 ? 'bad' : ''}>{factor}</span>,
  'number',
)

interface FoundProps {
  loaded: Loaded<Expertise>
  /** Whether it is what is known of one file. */
  isOfFile: boolean
  org: string
  /** Whether a person or a domain is among those that are looked for. */
  matches: (...names: string[]) => boolean
}

export function ExpertiseTables({ loaded, isOfFile, org, matches }: FoundProps) {
  return (
    <Show loaded={loaded} what="expertise">
      {({ data, domains }) => {
        if (domains.length === 0)
          return isOfFile ? null : (
            <section>
              <h2>Who knows what</h2>
              <Empty command={`cloud-analytics sync PATH/TO/REPOSITORY --org ${org}`}>
                No commits yet. To send those of a repository, on a machine that has it:
              </Empty>
            </section>
          )
        const names = new Map(data.map(({ user_id, display_name }) => [user_id, display_name]))
        const ownerOf = (id: string | null) => (id === null ? '–' : (names.get(id) ?? id))
        const rows = data
          .flatMap(({ user_id, display_name, domains: own }) =>
            own.map((domain) => ({ ...domain, user_id, display_name })),
          )
          .filter(({ display_name, domain }) => matches(display_name, domain))
          .sort((a, b) => b.score - a.score)
        return (
          <>
            <section>
              <h2>Bus factor{isOfFile && ` of its domain, ${domains[0]?.domain}`}</h2>
              <Paged
                caption="Bus factor"
                name="domains"
                noun="domains"
                rows={domains
                  .map((one) => ({ ...one, owner: ownerOf(one.primary_owner_id) }))
                  .filter(({ domain, owner }) => matches(domain, owner))}
                keyOf={({ domain }) => domain}
                columns={[
                  DOMAIN,
                  wholeColumn('Files', 'files'),
                  { ...busFactorColumn('Bus factor', 'bus_factor'), phone: 'main' },
                  { ...textColumn('Primary owner', 'owner'), phone: 'also' },
                ]}
              />
            </section>
            <section>
              <h2>Expertise{isOfFile && ' of that domain: of all its files'}</h2>
              <p class="note">A file that several wrote much of is owned by each of them.</p>
              <Paged
                caption="Expertise"
                name="people"
                noun="rows"
                rows={rows}
                keyOf={({ user_id, display_name, domain }) => `${user_id} ${display_name} ${domain}`}
                columns={[textColumn('Person', 'display_name'), ...EXPERTISE]}
              />
            </section>
          </>
        )
      }}
    </Show>
  )
}
