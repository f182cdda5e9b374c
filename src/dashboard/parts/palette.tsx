// A palette (Ctrl-K, or the button) that goes to a page, project, team, person or session by its name.

import { useEffect, useRef, useState } from 'preact/hooks'
import { linkTo, NONE, type Query } from '../client/links.ts'
import { loadPeople, SUGGESTIONS } from '../client/lists.ts'

interface Place {
  name: string
  kind: string
  href: string
  /** Other words by which it is found. */
  words?: string
}

/** Words of questions that no page has. */
const SMALL = /^(?:..?|the|what|which|who|how|has|are|does|have)$/
/** Words that stand on a page and are not its name. */
const WORDS: Readonly<Record<string, string>> = {
  '': 'today yesterday forecast',
  audit: 'log history',
  alerts: 'rules',
  budgets: 'limits left forecast',
  devices: 'machines agents silent stopped',
  me: 'left limits my own last session',
  outcomes: 'commits merged',
  paid: 'newest versions models changes effects cheaper',
  quality: 'smoothness score better',
  seats: 'subscriptions plans licences idle',
  security: 'critical secrets findings dangerous commands',
  sessions: 'turns last newest',
  settings: 'time zone retention',
  team: 'who knows expertise bus factor',
  webhooks: 'receivers endpoints fails',
  why: 'dearer explain',
}
/** Sections of the settings, with their words. */
const SECTIONS = [
  ['server', 'Server', 'backups disk version'],
  ['members', 'Members', 'people invite roles'],
  ['keys', 'API keys', 'tokens'],
  ['sign-in', 'Sign-in', 'passwords oidc sso'],
  ['telemetry', 'Telemetry', 'opentelemetry otel'],
] as const

const SHOWN = 8

/** Projects, teams and people, asked for when the palette is opened first; none where the key may not read them. */
async function loadPlaces(): Promise<Place[]> {
  const [projects, teams, people] = await Promise.all([
    SUGGESTIONS.project().catch(() => []),
    SUGGESTIONS.team().catch(() => []),
    loadPeople().catch(() => []),
  ])
  const membersOf = (query: Query) => linkTo('cost', { ...query, by: 'member' })
  const names = teams.map(([team]) => team).filter((team) => team !== NONE)
  return [
    ...projects.map(([name]) => ({ name, kind: 'Project', href: membersOf({ project: name }) })),
    ...names.flatMap((name) => [
      { name, kind: 'Team', words: 'budget', href: membersOf({ team: name, range: 'month' }) },
      {
        name,
        kind: 'Team, last month',
        words: 'budget',
        href: membersOf({ team: name, range: 'last-month' }),
      },
    ]),
    ...people.map(({ id, display_name: name }) => ({ name, kind: 'Person', href: linkTo('team', {}, id) })),
  ]
}

interface PaletteProps {
  pages: readonly { page: string; name: string }[]
  /** Whether the reader may see all sections of the settings. */
  hasSettings: boolean
}

export function Palette({ pages, hasSettings }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [places, setPlaces] = useState<Place[]>([])
  const open = () => {
    setText('')
    setAt(0)
    dialog.current?.showModal()
    field.current?.focus()
    loadPlaces().then(setPlaces)
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      if (dialog.current?.open === true) dialog.current.close()
      else open()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const query = text.trim().toLowerCase()
  const candidates: Place[] = [
    ...pages.map(({ page, name }) => ({ name, kind: 'Page', href: linkTo(page), words: WORDS[page] ?? '' })),
    ...(hasSettings ? SECTIONS : []).map(([id, name, words]) => ({
      ...{ name, words, kind: 'Settings', href: linkTo('settings', {}, id) },
    })),
    ...places,
  ]
  const words = query.split(/\s+/)
  const long = words.every((word) => SMALL.test(word)) ? words : words.filter((word) => !SMALL.test(word))
  const starts = ({ name }: Place) => (name.toLowerCase().startsWith(query) ? 0 : 1)
  const matches = candidates
    .filter(({ name, kind, words = '' }) => {
      const text = `${kind} ${name} ${words}`.toLowerCase()
      return long.every((word) => text.includes(word))
    })
    .sort((a, b) => starts(a) - starts(b))
    .slice(0, SHOWN)
  if (/^sess_./.test(query))
    matches.push({ name: text.trim(), kind: 'Session', href: linkTo('sessions', {}, text.trim()) })
  if (/[/.]./.test(query) && !query.includes('@'))
    matches.push({ name: text.trim(), kind: 'Who knows this file', href: linkTo('team', { q: text.trim() }) })
  const chosen = matches[Math.min(at, matches.length - 1)]
  const go = (place: Place | undefined) => {
    if (place === undefined) return
    dialog.current?.close()
    location.hash = place.href
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') go(chosen)
    else if (step === undefined) return
    else setAt((Math.min(at, matches.length - 1) + step + matches.length) % Math.max(1, matches.length))
    event.preventDefault()
  }
  return (
    <>
      <button type="button" class="find" onClick={open} aria-keyshortcuts="Control+K">
        Search … <kbd>Ctrl K</kbd>
      </button>
      <dialog ref={dialog} class="palette" aria-label="Go to" {...{ closedby: 'any' }}>
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label="Page, project, team, person, file or session"
          aria-expanded="true"
          aria-controls="places"
          aria-activedescendant={chosen && `place${matches.indexOf(chosen)}`}
          placeholder="Page, project, team, person, file, or sess_…"
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <div id="places" role="listbox" aria-label="Places">
          {matches.map((place, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and takes the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the field says which one is chosen
            <div
              key={place.href}
              id={`place${index}`}
              role="option"
              aria-selected={place === chosen}
              onClick={() => go(place)}
            >
              <bdi>{place.name}</bdi> <span class="note">{place.kind}</span>
            </div>
          ))}
        </div>
        {matches.length === 0 && <p class="note">Nothing has this name.</p>}
      </dialog>
    </>
  )
}
