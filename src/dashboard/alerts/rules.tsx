// The page of alerts and that of digests, by what they share: list, form, state and deliveries of a rule.

import type { ComponentChildren, ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import type { RuleTest } from '../../features/alerts/destination-model.ts'
import type { Alert } from '../../features/alerts/model.ts'
import { getJson, request, useApi } from '../client/api.ts'
import { capital } from '../client/format.ts'
import { isAdmin, linkTo, type PageProps } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { Asked, Button, removeAndLeave, Saying, useChanges } from '../parts/form.tsx'
import { AnswerOf, Empty, Facts, Later, Ready, Show } from '../parts/show.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Back, NamedLink } from '../parts/values.tsx'
import { Deliveries } from '../webhooks/deliveries.tsx'
import { type NameOf, toldOf } from './alert-words.tsx'

/** Alerts and digests have these in common. */
type Rule = Pick<Alert, 'id' | 'name' | 'enabled' | 'destinations'>

export interface RuleFormProps<Of extends Rule> {
  /** The one that is changed. */
  stored?: Of
  nameOf: NameOf
  save: (body: object) => Promise<unknown>
  /** The words of the button. */
  children: string
}

/** The difference between alerts and digests. */
export interface RuleKind<Of extends Rule> {
  page: 'alerts' | 'digests'
  one: 'alert' | 'digest'
  empty: string
  /** All of them in a sentence, and one. */
  said: (rules: readonly Of[]) => string
  saidOne: (rule: Of) => string
  soft?: ComponentChildren
  columns: (nameOf: NameOf) => readonly Column<Of>[]
  Form: ComponentType<RuleFormProps<Of>>
  /** Shown below the facts of one. */
  more?: (rule: Of, nameOf: NameOf) => ComponentChildren
}

type OfKind<Of extends Rule> = PageProps & { kind: RuleKind<Of> }

/** The alerts or digests, or one of them when the URL names it. */
export function RulesPage<Of extends Rule>(props: OfKind<Of>) {
  const { id } = props.route
  return id === undefined ? <RuleList {...props} /> : <RulePage key={id} {...props} id={id} />
}

/** The columns with those that both have. */
function useColumns<Of extends Rule>({ page, columns }: RuleKind<Of>) {
  const members = useMembers(page === 'alerts')
  const nameOf: NameOf = (key) => (key === null ? 'none' : (members.get(key)?.name ?? key))
  const destinations = { name: 'Told', cell: ({ destinations }: Of) => toldOf(destinations) }
  return { nameOf, columns: [...columns(nameOf), destinations] }
}

function RuleList<Of extends Rule>({ kind, who }: OfKind<Of>) {
  const { page, one, empty, said: saidOf, soft, Form } = kind
  const { said, run } = useChanges()
  // an organization has at most 100
  const rules = useApi<{ data: Of[] }>(`/${page}?per_page=100`)
  const { nameOf, columns } = useColumns(kind)
  const add = async (body: object): Promise<void> => {
    const rule = await run(() => getJson<Rule>(`/${page}`, { method: 'POST', body }), 'Made')
    if (rule !== undefined) location.hash = linkTo(page, {}, rule.id)
  }
  const name = ({ id, name }: Of) => <NamedLink to={linkTo(page, {}, id)}>{name}</NamedLink>
  return (
    <Ready of={[rules]}>
      <AnswerOf loaded={rules} name={capital(page)} soft={soft}>
        {({ data }) => saidOf(data)}
      </AnswerOf>
      <Show loaded={rules} what={page}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              {empty} {!isAdmin(who) && `An owner or admin makes ${page}.`}
            </Empty>
          ) : (
            <Table {...{ caption: page, rows: data, columns: [{ name: 'Name', cell: name }, ...columns] }} />
          )
        }
      </Show>
      {isAdmin(who) && (
        <section>
          <h2>New {one}</h2>
          <Form {...{ nameOf, save: add }}>{`Make the ${one}`}</Form>
          <Saying said={said} />
        </section>
      )}
    </Ready>
  )
}

function RulePage<Of extends Rule>({ kind, id, who }: OfKind<Of> & { id: string }) {
  const { page, one, saidOne, Form, more } = kind
  const { count, said, run, reload } = useChanges()
  const path = `/${page}/${encodeURIComponent(id)}`
  const rule = useApi<Of>(path, {}, count)
  const { nameOf, columns } = useColumns(kind)
  const save = (body: object) => run(() => request(path, { method: 'PATCH', body }))
  return (
    <>
      <Back to={page}>{`All ${page}`}</Back>
      <AnswerOf loaded={rule} name={capital(one)}>
        {(stored) => (
          <>
            <bdi>{stored.name}</bdi>: {stored.enabled ? saidOne(stored) : 'silenced'}
          </>
        )}
      </AnswerOf>
      <Show loaded={rule} what={`the ${one}`}>
        {(stored) => (
          <>
            <Facts kind="facts" of={columns.map(({ name, cell }) => [name, cell?.(stored)])} />
            {isAdmin(who) && (
              <>
                <Actions {...{ page, path, run, save }} enabled={stored.enabled} />
                <Later summary="Edit">
                  {/* an address that was stored is shown no longer */}
                  <Form key={toldOf(stored.destinations)} {...{ stored, nameOf, save }}>
                    Save
                  </Form>
                </Later>
              </>
            )}
            {more?.(stored, nameOf)}
          </>
        )}
      </Show>
      <Saying said={said} />
      <h2>What was sent</h2>
      <Deliveries {...{ path, count, run, reload }} />
    </>
  )
}

type ActionsProps = Pick<ReturnType<typeof useChanges>, 'run'> &
  Pick<RuleFormProps<Rule>, 'save'> & { page: string; path: string; enabled: boolean }

function Actions({ page, path, enabled, run, save }: ActionsProps) {
  const [results, setResults] = useState<RuleTest['results']>([])
  const test = async (): Promise<void> => {
    const result = await run(() => getJson<RuleTest>(`${path}/test`, { method: 'POST' }), 'Tested')
    setResults(result?.results ?? [])
  }
  return (
    <>
      <div class="actions">
        <Button act={test}>Send a test</Button>
        <Button act={() => save({ enabled: !enabled })}>{enabled ? 'Silence' : 'End the silence'}</Button>
        <Asked isApart question="Delete it?" act={() => run(() => removeAndLeave(path, page), 'Deleted')}>
          Delete
        </Asked>
      </div>
      {results.map(({ type, success, status_code, error }, index) => (
        <p key={index} class={success ? 'good' : 'bad'}>
          {type}: {error ?? `answered ${status_code}`}
        </p>
      ))}
    </>
  )
}
