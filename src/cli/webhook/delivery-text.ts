// Writes deliveries that a receiver got as text for a terminal, for `webhook listen` and `demo`. They came over the network:
// they are printed by what makes controls visible.

import { cut, plural } from '../../base/text.ts'
import type { Received } from './receiver.ts'

const MAX_LINES = 40
const MAX_LINE_LENGTH = 160
const MAX_NAME_LENGTH = 100

const shortened = (text: string, length: number): string =>
  text.length > length ? `${cut(text, length)}…` : text

const headerText = (header: string | null): string => shortened(header ?? '-', MAX_NAME_LENGTH)

/** One line: time, event, delivery, attempt, signature, status of the response. */
export function receivedLine(received: Received): string {
  const { received_at, event, delivery_id, attempt, signature, warning, status } = received
  const parts = [
    received_at.slice(11, 23),
    headerText(event),
    headerText(delivery_id),
    `attempt ${attempt ?? '-'}`,
    `signature ${signature}`,
    `answered ${status}`,
  ]
  return `${parts.join('  ')}${warning === null ? '' : `\n  warning: ${warning}`}`
}

/** The line, and the body below it, shortened to 40 lines. */
export function receivedText(received: Received): string {
  const { body } = received
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  const lines = text.split('\n')
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${shortened(line, MAX_LINE_LENGTH)}`)
  const rest = lines.length - shown.length
  if (rest > 0) shown.push(`  … ${plural(rest, 'more line')}`)
  return [receivedLine(received), ...shown].join('\n')
}
