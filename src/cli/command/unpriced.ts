// Says which models have no known price, for `cost` and the end of `sync`, and offers each a line for the MODEL_PRICES file.

import { loadGuesses } from '../../analysis/scoring/price-guess.ts'
import { visible } from '../../base/text.ts'

/** Models that one text names. */
const SHOWN = 5

export async function unpricedText(what: string, models: readonly string[]): Promise<string> {
  const guess = await loadGuesses()
  const now = new Date().toISOString()
  const lines = models.slice(0, SHOWN).map((model) => {
    const price = guess(model, now)
    if (price === undefined)
      return `${model}: its list price is known; cloud-analytics reprice uses it, doctor names a tier without a price`
    return `${price.line}  (${price.nearest === null ? 'no model of its family has a price: fill it in' : `a guess: the price of ${price.nearest}`})`
  })
  const more = models.length - lines.length
  return [
    `${visible(what)}: they count as 0 dollars. Give it a price by a line in the file of MODEL_PRICES, then cloud-analytics reprice:`,
    ...lines.map((line) => `  ${visible(line)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n')
}
