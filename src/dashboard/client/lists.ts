// Loads and keeps what several pages need and what changes rarely: choices of filters, names of members, what needs attention.

import { useEffect, useState } from 'preact/hooks'
import type { Attention } from '../../features/attention/model.ts'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { TeamOverview } from '../../features/members/team-model.ts'
import { getJson, type Loaded, type Page, pathOf, useLoaded } from './api.ts'
import { datesIn, lastDays } from './days.ts'
import { NONE } from './links.ts'
import { onChange } from './renewal.ts'
import { signedBy } from './signed-in.ts'
import { storedAs } from './storage.ts'

const KEPT_MS = 300_000
/** A value may be this old when something has changed. */
const CHANGED_MS = 1_000
/** The first page may be loaded by then. */
export const LATER_MS = 1_500
const MAX_NAMES = 100
const BRANCH_DAYS = 90

const bodies = new Map<string, { at: number; body: Promise<unknown> }>()
/** These are kept when the page is loaded again, too: the number of alerts, and what gives names their colours. */
const OVER_LOADS = /^\/(attention$|cost\/first-days)/
const stored = storedAs('cloud-analytics.lists', () => sessionStorage)
type Stored = Record<string, { at: number; by: string; body: unknown }>
const readStored = () => JSON.parse(stored.read() ?? '{}') as Stored

/** Finds what was asked for before; by an earlier load of the page only where it may be minutes old. */
function entryOf(path: string, keptMs: number) {
  const { at = 0, by, body } = readStored()[path] ?? {}
  return (
    bodies.get(path) ??
    (keptMs === KEPT_MS && by === signedBy() ? { at, body: Promise.resolve(body) } : undefined)
  )
}

/** The body of a GET, which may be up to five minutes old. One that failed is asked for again. */
export function getKept<Body>(path: string, keptMs = KEPT_MS): Promise<Body> {
  const entry = entryOf(path, keptMs)
  if (entry !== undefined && Date.now() - entry.at < keptMs) return entry.body as Promise<Body>
  const body = getJson<Body>(path)
  const [at, by] = [Date.now(), signedBy()]
  bodies.set(path, { at, body })
  body.then(
    (found) =>
      OVER_LOADS.test(path) &&
      stored.write(JSON.stringify({ ...readStored(), [path]: { at, by, body: found } } satisfies Stored)),
    () => bodies.delete(path),
  )
  return body
}

export const useAttention = (isNeeded = true): Loaded<Attention | undefined> =>
  useLoaded(`attention ${isNeeded}`, async () =>
    isNeeded ? await getKept<Attention>('/attention', CHANGED_MS) : undefined,
  )

/** The number of alerts that fire: asked for once the page has loaded, unless it is known. */
export function useAlertCount(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const ask = (keptMs: number) =>
      void getKept<Attention>('/attention', keptMs).then(
        ({ alerts }) => setCount(alerts.length),
        () => undefined,
      )
    const soon = () => {
      const isLoading = document.querySelector('main .note[role=status]') !== null
      if (isLoading) timer = setTimeout(soon, LATER_MS)
      else ask(KEPT_MS)
    }
    let timer = setTimeout(soon, LATER_MS)
    const end = onChange(() => ask(CHANGED_MS))
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [])
  return count
}

/** Forgets the lists when somebody signs out. */
export function forgetLists(): void {
  bodies.clear()
  stored.write(null)
}

const getTeam = (): Promise<TeamOverview> => getKept<TeamOverview>('/team')

/** The members, with their ids. */
export const loadPeople = async (): Promise<TeamOverview['members']> => (await getTeam()).members

export type Suggested = 'project' | 'model' | 'agent' | 'member' | 'team' | 'branch'
/** A value of a filter, and what it is called where that differs. */
type Suggestion = readonly [value: string, name: string]

const suggestions = async (path: string): Promise<Suggestion[]> => {
  const { data } = await getKept<Page<{ name: string }>>(pathOf(path, { per_page: MAX_NAMES }))
  return data.map(({ name }) => [name, ''])
}

/** At most 100 values of a filter; of branches those with most sessions. */
export const SUGGESTIONS: Record<Suggested, () => Promise<Suggestion[]>> = {
  project: async () => [...(await suggestions('/projects')), [NONE, 'sessions without a project']],
  model: () => suggestions('/models'),
  agent: () => suggestions('/agents'),
  member: async () => (await getTeam()).members.map(({ email, display_name }) => [email, display_name]),
  team: async () => {
    const teams = new Set((await getTeam()).members.flatMap(({ team }) => team ?? []))
    return [...[...teams].sort().map((team) => [team, ''] as const), [NONE, 'of nobody in a team']]
  },
  branch: async () => {
    const query = { by: 'branch', sort: 'sessions', ...datesIn(lastDays(BRANCH_DAYS)), per_page: MAX_NAMES }
    const { data } = await getKept<Breakdown>(pathOf('/cost/breakdown', query))
    return data.flatMap(({ key }) => (key === null ? [] : [[key, ''] as const]))
  },
}

export interface Person {
  name: string
  email: string
}

export type People = ReadonlyMap<string | null, Person>

/** The name of the member with this id or address; else the text itself. */
export const nameIn = (people: People, text: string): string =>
  people.get(text)?.name ?? [...people.values()].find(({ email }) => email === text)?.name ?? text

/** The members by id, none where the key may not read them; asked for only where they are needed. */
export const useMembers = (isNeeded: boolean): People => useNames(isNeeded).value ?? new Map()

/** The same, for a page that is shown with them. */
export const useNames = (isNeeded = true): Loaded<People> =>
  useLoaded(`members ${isNeeded}`, async () => {
    const members = isNeeded ? (await getTeam()).members : []
    return new Map<string | null, Person>(
      members.map(({ id, display_name, email }) => [id, { name: display_name, email }]),
    )
  })
