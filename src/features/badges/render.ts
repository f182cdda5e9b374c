import { readFileSync } from 'node:fs'
import { packedPath } from '../../base/packed-path.ts'
import { type Badge, type BadgeQuery, CACHE_S, MAX_LABEL_LENGTH, type ShieldsBadge } from './model.ts'

/** The package that draws badges, loaded at the first one. */
async function loadMaker() {
  const { default: measure } = await import('anafanafo')
  measure.readTable = (name) =>
    Buffer.from(Bun.gunzipSync(readFileSync(packedPath(`${name}.json`)))).toString()
  return (await import('badge-maker')).makeBadge
}

/** XML does not allow these, not even escaped: a browser would show a broken image. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
const NOT_IN_XML = /[\u0000-\u001f\u007f\ufffe\uffff]/g

/** The text as a label: one line, cut to MAX_LABEL_LENGTH characters. */
export function cleanLabel(text: string): string {
  const characters = [...text.toWellFormed().replace(NOT_IN_XML, ' ').trim()]
  if (characters.length <= MAX_LABEL_LENGTH) return characters.join('')
  return `${characters.slice(0, MAX_LABEL_LENGTH - 1).join('')}…`
}

type Choice = Pick<BadgeQuery, 'label' | 'style'>

const labelOf = (badge: Badge, { label }: Choice) => cleanLabel(label ?? badge.label)

/** The badge as SVG. Its ids differ from those of other badges and places: a page may have several inline. */
export async function drawBadge(badge: Badge, choice: Choice, place: string): Promise<string> {
  const makeBadge = await loadMaker()
  const drawn = { ...badge, label: labelOf(badge, choice), style: choice.style ?? 'flat' }
  const idSuffix = Bun.hash(JSON.stringify([drawn, place])).toString(36)
  // the package gives its filter the same id in each badge
  return makeBadge({ ...drawn, idSuffix })
    .replaceAll('id="blur"', `id="blur${idSuffix}"`)
    .replaceAll('filter="url(#blur)"', `filter="url(#blur${idSuffix})"`)
}

/** The badge in the JSON format of shields.io's endpoint badge. */
export function describeBadge(badge: Badge, choice: Choice): ShieldsBadge {
  return {
    schemaVersion: 1,
    ...badge,
    label: labelOf(badge, choice),
    ...(choice.style === undefined ? {} : { style: choice.style }),
    cacheSeconds: CACHE_S,
  }
}
