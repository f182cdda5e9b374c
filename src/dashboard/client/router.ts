// Hooks for the route of the page that is shown: the URL's fragment, its parameters, links that keep them, and changes of it.

import { createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Range } from './days.ts'
import { linkTo, type Query, type Route, routeOf } from './links.ts'

/** The URL's fragment now: a link to the same page that is opened in this tab changes it, and loads nothing. */
export function useFragment(): string {
  const [fragment, setFragment] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setFragment(location.hash)
    addEventListener('hashchange', onChange)
    // it may have changed between the first drawing and now
    onChange()
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return fragment
}

/** A parameter of a page that has no route: `#token=…`. */
export const parameterOf = (name: string): string =>
  new URLSearchParams(location.hash.slice(1)).get(name) ?? ''

/** The route of the page that is drawn, for all that is part of it. */
export const Here = createContext<Route>(routeOf(''))
export const useHere = (): Route => useContext(Here)

/** The fragment of the same page with other parameters. */
export const linkHere = ({ page, id, query }: Route, changes: Query): string =>
  linkTo(page, { ...Object.fromEntries(query), ...changes }, id)

/** The same page for other days: a named range or its own; undefined: the usual one. */
export const linkDays = (here: Route, days: string | Range | undefined, changes: Query = {}): string =>
  linkHere(here, {
    ...{ page: undefined, range: undefined, from: undefined, to: undefined },
    ...(typeof days === 'string' ? { range: days } : days),
    ...changes,
  })

export function useRoute(): Route {
  const fragment = useFragment()
  const route = routeOf(fragment)
  useScrollPlace(fragment, `${route.page}/${route.id}?${route.query.get('page')}`)
  return route
}

/**
 * Goes to the top of another `place`, and back to where the reader was when the entry of the history is an old one: how
 * far it was scrolled is kept there.
 */
function useScrollPlace(fragment: string, place: string): void {
  const before = useRef(place)
  useEffect(() => {
    history.scrollRestoration = 'manual'
    const keep = () => history.replaceState({ y: scrollY }, '')
    addEventListener('scrollend', keep)
    return () => removeEventListener('scrollend', keep)
  }, [])
  useLayoutEffect(() => {
    const state = history.state as { y: number } | null
    // content that is loaded later must not shift the text that is read
    document.body.style.minHeight = state === null ? '' : `${state.y + innerHeight}px`
    if (state !== null) scrollTo(0, state.y)
    else if (before.current !== place) scrollTo(0, 0)
    before.current = place
  }, [fragment])
}

/** Changes parameters of the page's URL; a new filter begins at the first page again. */
export function setQuery(changes: Query): void {
  location.hash = linkHere(routeOf(location.hash), { page: undefined, ...changes })
}
