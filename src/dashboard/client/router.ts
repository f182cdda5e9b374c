import { useEffect, useState } from 'preact/hooks'
import { linkTo, type Route, routeOf } from './links.ts'

/** The route that the URL names now. */
export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setFragment(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return routeOf(fragment)
}

/** Changes parameters of the page's URL; a new filter begins at the first page again. */
export function setQuery(changes: Readonly<Record<string, string | number | undefined>>): void {
  const { page, id, query } = routeOf(location.hash)
  const next = new Map<string, string | number | undefined>(query)
  if (!('page' in changes)) next.delete('page')
  for (const [name, value] of Object.entries(changes)) next.set(name, value)
  location.hash = linkTo(page, Object.fromEntries(next), id)
}
