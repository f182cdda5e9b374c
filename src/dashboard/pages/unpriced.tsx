// Shows models without a price on the page `Spend`, each with a line for the file of prices.

import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { PriceGuess } from '../../features/cost/model.ts'
import { useApi } from '../client/api.ts'
import { formatCompact } from '../client/format.ts'
import { NONE, type Query } from '../client/links.ts'
import { Copied } from '../parts/copied.tsx'
import { Later, Show } from '../parts/show.tsx'

const PAGE = 100

/** The models of these filters whose tokens have no known price, those with most first, each with what gives it one. */
export function Unpriced({ filters }: { filters: Query }) {
  const query = { ...filters, by: 'model', sort: 'unpriced_tokens', per_page: PAGE }
  return (
    <section class="attention" aria-label="Without a known price">
      <h2>Without a known price: these tokens count as $0</h2>
      <Show loaded={useApi<Breakdown>('/cost/breakdown', query)} what="models without a price">
        {({ data }) =>
          data
            .filter(({ unpriced_tokens }) => unpriced_tokens > 0)
            .map(({ key, unpriced_tokens }) => <Model key={key} model={key} tokens={unpriced_tokens} />)
        }
      </Show>
    </section>
  )
}

const Model = ({ model, tokens }: { model: string | null; tokens: number }) => (
  <Later
    summary={
      <>
        <bdi>{model ?? NONE}</bdi>: {formatCompact(tokens)} tokens <strong>Give it a price</strong>
      </>
    }
  >
    <Guess model={model ?? 'unknown'} />
  </Later>
)

function Guess({ model }: { model: string }) {
  return (
    <Show loaded={useApi<PriceGuess>('/cost/price-guess', { name: model })} what="a guess">
      {({ nearest, line }) =>
        line === null ? (
          <p class="note">
            Its list price is known. <code>cloud-analytics reprice</code> uses it; <code>doctor</code> names
            calls of a tier without a price.
          </p>
        ) : (
          <>
            <p class="note">
              {nearest === null ? (
                'No model of its family has a price: fill it in. '
              ) : (
                <>
                  <strong>A guess</strong>: the price of <bdi>{nearest}</bdi>. Check it with the vendor.{' '}
                </>
              )}
              Put the line into the file of <code>MODEL_PRICES</code>, then run{' '}
              <code>cloud-analytics reprice</code>. Until then nothing is priced by it.
            </p>
            <Copied text={line} />
          </>
        )
      }
    </Show>
  )
}
