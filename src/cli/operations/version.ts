import { BUILD, VERSION, VERSION_AND_COMMIT } from '../../base/version.ts'
import { findManifest } from '../../database/embedded/assets.ts'
import { MIGRATIONS } from '../../database/migrate.ts'
import { printResult } from '../command/output.ts'

/** `version`: what tells this build from others. `postgresql` is null in a build that has none. */
export async function printVersion(json: boolean): Promise<void> {
  const schema = MIGRATIONS.length
  // the package's version has a suffix of its own
  const postgresql = /^\d+\.\d+/.exec(findManifest()?.version ?? '')?.[0] ?? null
  const { commit, target } = BUILD
  const parts = [VERSION_AND_COMMIT, `schema ${schema}`, `PostgreSQL ${postgresql ?? 'not inside'}`, target]
  await printResult(json, { version: VERSION, commit, schema, postgresql, target }, parts.join(', '))
}
