// Reads and writes links to pages. These are in the part of the URL after `#`, so that any of them can be kept as a bookmark
// and the server has one page: `#/sessions?project=checkout`, `#/sessions/sess_4f1c2a`.

import type { WhoAmI } from '../../features/whoami/model.ts'

export interface Route {
  /** The first part of the path; empty for the first page. */
  page: string
  id: string | undefined
  query: URLSearchParams
}

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function routeOf(fragment: string): Route {
  const [path = '', search = ''] = fragment.replace(/^#?\/?/, '').split('?', 2)
  const [page = '', id] = path.split('/')
  return {
    page: decode(page),
    id: id === undefined || id === '' ? undefined : decode(id),
    query: new URLSearchParams(search),
  }
}

/** The key of what has none; as the project of a page's URL it stands for no project. */
export const NONE = '(none)'

/** Parameters of a URL; those that are empty or undefined are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** `?` and the parameters, or nothing where there are none. */
export function searchOf(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  return search.size === 0 ? '' : `?${search}`
}

/** The fragment of a page. */
export const linkTo = (page: string, query: Query = {}, id?: string): string =>
  `#/${encodeURIComponent(page)}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${searchOf(query)}`

/** Parameters that go along from page to page. */
const KEPT = ['range', 'from', 'to', 'project', 'team']

export const keptOf = (query: URLSearchParams): Record<string, string | undefined> =>
  Object.fromEntries(KEPT.map((name) => [name, query.get(name) ?? undefined]))

/** Every page and every section of the settings gets these. */
export interface PageProps {
  route: Route
  who: WhoAmI
}

/** Whether the reader may change everything; a developer has keys of their own. */
export const isAdmin = ({ scopes }: WhoAmI): boolean => scopes.includes('admin')
