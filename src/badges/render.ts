import { readFileSync } from 'node:fs'
import measure from 'anafanafo'
import { makeBadge } from 'badge-maker'
import { packedPath } from '../packed.ts'
import { type Badge, type BadgeQuery, CACHE_S, MAX_LABEL_LENGTH, type ShieldsBadge } from './model.ts'

measure.readTable = (name) => Buffer.from(Bun.gunzipSync(readFileSync(packedPath(`${name}.json`)))).toString()

/** No XML may hold these, escaped or not: a browser would show a broken image. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_IN_XML = /[\u0000-\u001f\u007f\ufffe\uffff]/g

/** `text` as a badge's label: one line, at most MAX_LABEL_LENGTH characters. */
export function cleanLabel(text: string): string {
  const characters = [...text.toWellFormed().replace(NOT_IN_XML, ' ').trim()]
  if (characters.length <= MAX_LABEL_LENGTH) return characters.join('')
  return `${characters.slice(0, MAX_LABEL_LENGTH - 1).join('')}…`
}

type Choice = Pick<BadgeQuery, 'label' | 'style'>

const labelOf = (badge: Badge, { label }: Choice) => cleanLabel(label ?? badge.label)

/** The badge as SVG; badge-maker escapes its texts. */
export function drawBadge(badge: Badge, choice: Choice): string {
  return makeBadge({
    label: labelOf(badge, choice),
    message: badge.message,
    color: badge.color,
    style: choice.style ?? 'flat',
  })
}

/** The badge as shields.io's endpoint badge reads it. */
export function describeBadge(badge: Badge, choice: Choice): ShieldsBadge {
  return {
    schemaVersion: 1,
    label: labelOf(badge, choice),
    message: badge.message,
    color: badge.color,
    ...(choice.style === undefined ? {} : { style: choice.style }),
    cacheSeconds: CACHE_S,
  }
}
