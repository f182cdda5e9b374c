import { formatTime } from '../client/format.ts'

// Times in the browser's zone.

const local = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
const exact = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })

/** `2026-01-31 12:34` in the browser's zone. */
export const localTime = (at: string): string => local.format(new Date(at))

interface TimeProps {
  /** The timestamp of the API. */
  at: string
  hasSeconds?: boolean
}

/** A time in the browser's zone, `2026-01-31 12:34`; hovering says it in UTC. */
export const Time = ({ at, hasSeconds = false }: TimeProps) => (
  <time dateTime={at} title={`${formatTime(at, hasSeconds)} UTC`}>
    {hasSeconds ? exact.format(new Date(at)) : localTime(at)}
  </time>
)

/** Writes a time where it is known. */
export const timeOf = (at: string) => <Time at={at} />
