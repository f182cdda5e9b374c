import { formatTime, localTime } from '../client/format.ts'

// Times in the browser's zone.

const exact = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })

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
