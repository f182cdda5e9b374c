import { useState } from 'preact/hooks'
import type { CreatedKey, Key, KeyPage } from '../../settings/key-model.ts'
import { getJson, pathOf, request, useLoaded } from '../client/api.ts'
import { formatTime } from '../client/format.ts'
import { Asked } from '../parts/asked.tsx'
import { Copied } from '../parts/copied.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { Saying, useChanges } from './change.tsx'
import { isAdmin, type SectionProps } from './section.ts'

/** Describes what each scope allows. A developer gives the first group only. */
const OWN_SCOPES: [string, string][] = [
  ['sessions:write', 'send sessions'],
  ['commits:write', 'send commits'],
  ['sessions:read', 'read sessions'],
  ['quality:read', 'read quality'],
  ['cost:read', 'read cost'],
  ['security:read', 'read findings'],
  ['team:read', 'read members and expertise'],
  ['risk:read', 'read pull requests'],
]
const ADMIN_SCOPES: [string, string][] = [
  ['read', 'read everything but webhooks'],
  ['write', 'send everything but audit entries'],
  ['webhooks', 'manage webhooks'],
  ['admin', 'manage keys, members, budgets and the organization'],
  ['audit:read', 'read the audit log'],
  ['audit:write', 'send audit entries, under any name'],
  ['ingest', 'send telemetry of coding agents, and nothing else'],
]

/** Makes, rotates and revokes API keys. */
export function KeySettings({ who, query }: SectionProps) {
  const { count, said, run } = useChanges()
  const [made, setMade] = useState<CreatedKey>()
  const page = query.get('page') ?? undefined
  const keys = useLoaded(`keys ${page} ${count}`, (signal) =>
    getJson<KeyPage>(pathOf('/keys', { page }), { signal }),
  )
  const rotate = async (id: string) => {
    const rotated = await run(
      () => getJson<CreatedKey>(`/keys/${id}/rotate`, { method: 'POST', body: {} }),
      'Rotated: the old key works for another day',
    )
    if (rotated !== undefined) setMade(rotated)
  }
  const revoke = (id: string) => run(() => request(`/keys/${id}`, { method: 'DELETE' }), 'Revoked')
  return (
    <>
      <NewKey
        scopes={isAdmin(who) ? [...ADMIN_SCOPES, ...OWN_SCOPES] : OWN_SCOPES}
        mayBind={isAdmin(who)}
        make={async (body) => {
          const created = await run(() => getJson<CreatedKey>('/keys', { method: 'POST', body }), 'Made')
          if (created !== undefined) setMade(created)
          return created !== undefined
        }}
      />
      <Saying said={said} />
      {made !== undefined && (
        <section>
          <h2>The key “{made.name}”, shown only now</h2>
          <Copied text={made.key} />
        </section>
      )}
      <h2>Keys</h2>
      <Show loaded={keys} what="API keys">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty>No keys yet.</Empty>
          ) : (
            <>
              <Table
                caption="API keys"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Name',
                    cell: ({ id, name }) => (
                      <>
                        {name} <code class="note">{id}</code>
                      </>
                    ),
                  },
                  { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
                  { name: 'Member', cell: ({ member }) => member?.email ?? 'anybody' },
                  {
                    name: 'Last used',
                    cell: ({ last_used_at: at }) => (at === null ? 'never' : formatTime(at)),
                  },
                  { name: 'Made by', cell: ({ created_by }) => created_by ?? 'command line' },
                  { name: 'State', cell: stateOf },
                  {
                    name: 'Change',
                    cell: (key) =>
                      key.revoked_at === null && (
                        <p class="actions">
                          <Asked question="Rotate it?" act={() => rotate(key.id)}>
                            Rotate
                          </Asked>
                          <Asked question="Revoke it for ever?" act={async () => void (await revoke(key.id))}>
                            Revoke
                          </Asked>
                        </p>
                      ),
                  },
                ]}
              />
              <Pager pagination={pagination} page="settings" id="keys" query={query} noun="keys" />
            </>
          )
        }
      </Show>
    </>
  )
}

function stateOf({ revoked_at, expires_at }: Key): string {
  if (revoked_at !== null) return `revoked ${formatTime(revoked_at)}`
  if (expires_at === null) return 'works'
  return Date.parse(expires_at) <= Date.now()
    ? `ended ${formatTime(expires_at)}`
    : `until ${formatTime(expires_at)}`
}

interface NewKeyProps {
  scopes: readonly (readonly [scope: string, allows: string])[]
  mayBind: boolean
  /** Whether it was made. */
  make: (body: object) => Promise<boolean>
}

function NewKey({ scopes, mayBind, make }: NewKeyProps) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [member, setMember] = useState('')
  const [expires, setExpires] = useState('')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const body = {
      name,
      scopes: [...chosen],
      ...(member === '' ? {} : { member: member.trim() }),
      ...(expires === '' ? {} : { expires_at: `${expires}T00:00:00Z` }),
    }
    if (!(await make(body))) return
    setName('')
    setChosen(new Set())
  }
  return (
    <form class="settings" onSubmit={(event) => void submit(event)}>
      <h2>New key</h2>
      <label>
        What it is for
        <input
          required
          maxLength={200}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <fieldset>
        <legend>It may</legend>
        {scopes.map(([scope, allows]) => (
          <label key={scope} class="check">
            <input
              type="checkbox"
              checked={chosen.has(scope)}
              onChange={({ currentTarget: { checked } }) => {
                const next = new Set(chosen)
                if (checked) next.add(scope)
                else next.delete(scope)
                setChosen(next)
              }}
            />
            <span>
              {allows} <code class="note">{scope}</code>
            </span>
          </label>
        ))}
      </fieldset>
      {mayBind && (
        <label>
          Only for the sessions of (e-mail; empty: anybody)
          <input
            type="email"
            value={member}
            onInput={({ currentTarget }) => setMember(currentTarget.value)}
          />
        </label>
      )}
      <label>
        Ends at the beginning of (empty: never)
        <input type="date" value={expires} onInput={({ currentTarget }) => setExpires(currentTarget.value)} />
      </label>
      <button type="submit" disabled={chosen.size === 0}>
        Make the key
      </button>
    </form>
  )
}
