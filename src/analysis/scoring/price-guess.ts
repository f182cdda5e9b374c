// Guesses a price for a model that has none: the price of the nearest model of its family. Nothing is priced by it until
// somebody puts it into the MODEL_PRICES file.

import { plainNameOf } from './model-names.ts'
import { createLookUp, type Price, type PriceRow } from './price-lookup.ts'

export interface PriceGuess {
  /** The model whose price it is; null where no model of the family has one. */
  nearest: string | null
  /** A line for the MODEL_PRICES file with its price of the smallest prompts; with blanks where none is known. */
  line: string
}

interface Place {
  /** The name with `#` for its version: `gpt-#-sol`. */
  family: string
  version: number
}

/** 6.2 of `gpt-6.2-sol`, 4.5 of `claude-opus-4-5`. */
const VERSION = /\d+(?:[.-]\d{1,2}(?!\d))?/
/** Dated names are of a model that has a name without one. */
const DATED = /\d{4}/

function versionOf(name: string): Place | undefined {
  const [text] = VERSION.exec(name) ?? []
  if (text === undefined || DATED.test(name)) return undefined
  return { family: name.replace(text, '#'), version: Number(text.replace('-', '.')) }
}

/** Loads the prices of the library, and guesses that of a model at a time; undefined for one that has a price. */
export async function loadGuesses(): Promise<(model: string, at: string) => PriceGuess | undefined> {
  const { lookUp, names } = createLookUp(await import('@pydantic/genai-prices'))
  const places = names.flatMap((name) => {
    const place = versionOf(name)
    return place === undefined ? [] : [{ name, ...place }]
  })
  return (model, at) => {
    if (lookUp(model, at) !== undefined) return undefined
    // a tier without a price has the model's own as its guess
    const untiered = model.replace(/ \([^)]*\)$/, '')
    const place = versionOf(plainNameOf(untiered))
    const isKnown = lookUp(untiered, at) !== undefined
    const nearest = isKnown ? untiered : place && nearestOf(place, places)
    return {
      nearest: nearest ?? null,
      line: modelLine(model, nearest === undefined ? undefined : lookUp(nearest, at)?.row),
    }
  }
}

/** A family without models is that with its last word left out: the model is a new kind of it. */
function nearestOf({ family, version }: Place, places: readonly (Place & { name: string })[]) {
  for (let of = family; of.includes('#'); of = of.replace(/(?:^|-)[^-]*$/, '')) {
    const distance = (place: Place) => Math.abs(place.version - version)
    const [nearest] = places
      .filter((place) => place.family === of)
      .sort((a, b) => distance(a) - distance(b) || a.version - b.version)
    if (nearest !== undefined) return nearest.name
  }
  return undefined
}

/** A factor of a price makes more digits than a price has. */
const baseOf = (price: Price): number =>
  Math.round((typeof price === 'object' ? price.base : (price ?? 0)) * 1e6) / 1e6

function modelLine(model: string, row: PriceRow | undefined): string {
  const prices = row && [row.input, row.output, row.cacheRead, row.cacheWrite].map(baseOf)
  const names = prices === undefined ? ['input', 'output'] : ['input', 'output', 'cache_read', 'cache_write']
  return `${JSON.stringify(model)}: { ${names.map((name, index) => `"${name}": ${prices?.[index] ?? '…'}`).join(', ')} }`
}
