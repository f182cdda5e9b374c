import { organizationsOf } from '../../accounts/organizations/queries.ts'
import { plural } from '../../base/text.ts'
import { sumUnpriced } from '../../features/sessions/unpriced-queries.ts'
import { repriceSessions } from '../../server/sync/reprice.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withDatabase } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { syncDepsOf } from '../command/sync-deps.ts'

/** `reprice`: prices what had no price when it was written, of one organization or of all. */
export async function reprice(context: Context, { org: slug }: { org?: string }): Promise<void> {
  const { undivided, result } = await withDatabase(context, async (sql) => {
    const organizations = await organizationsOf(sql, slug)
    const deps = syncDepsOf(context, sql)
    let repriced = 0
    let unpriced_tokens = 0n
    const models = new Set<string>()
    let undivided = 0
    for (const { id } of organizations) {
      repriced += await repriceSessions(deps, id, commandLineActor())
      const rest = await sumUnpriced(sql, id)
      unpriced_tokens += rest.tokens
      undivided += rest.undivided
      for (const model of rest.models) models.add(model)
    }
    const unpriced_models = [...models].sort()
    return { undivided, result: { repriced, unpriced_tokens: Number(unpriced_tokens), unpriced_models } }
  })
  const { repriced, unpriced_tokens, unpriced_models } = result
  const rest =
    unpriced_tokens === 0
      ? 'every token has a price'
      : `${plural(unpriced_tokens, 'token has', 'tokens have')} no price: ${[
          ...unpriced_models,
          ...(undivided > 0 ? [`${plural(undivided, 'session')} that nothing tells how to divide`] : []),
        ].join(', ')}`
  await printResult(
    context.json,
    result,
    `${plural(repriced, 'session has', 'sessions have')} a new cost; ${rest}`,
  )
}
