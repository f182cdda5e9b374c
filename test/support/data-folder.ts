import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/database/client.ts'
import { startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { migrate } from '../../src/database/migrate.ts'
import { silent } from './postgres.ts'

// Data directories for tests whose subject is not how one is made: unpacking PostgreSQL and creating the tables takes ten
// times as long as a copy.

/** The environment variable by which `test/run.ts` names a folder for the template of all test processes. */
export const DATA_TEMPLATE = 'TEST_DATA_TEMPLATE'

let ownFolder: string | undefined

/** Makes `dataDir` with a migrated, empty database, as `migrate` does. */
export async function newDataFolder(dataDir: string): Promise<void> {
  const template = process.env[DATA_TEMPLATE] ?? ownTemplate()
  if (!existsSync(template)) await makeTemplate(template)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const names = readdirSync(template).filter((name) => /^(data|pg)-/.test(name))
  const copied = Bun.spawnSync(['cp', '-a', ...names.map((name) => join(template, name)), dataDir])
  if (!copied.success) throw new Error(copied.stderr.toString())
}

function ownTemplate(): string {
  ownFolder ??= newFolder()
  return join(ownFolder, 'template')
}

/** Removes the template of this process, where it has one of its own. */
export function removeDataTemplate(): void {
  if (ownFolder !== undefined) rmSync(ownFolder, { recursive: true, force: true })
  ownFolder = undefined
}

async function makeTemplate(template: string): Promise<void> {
  const dataDir = newFolder()
  const embedded = await startEmbedded({ dataDir, log: silent, durable: false })
  const sql = connect(embedded.target, { max: 1, applicationName: 'test-migrate' })
  await migrate(sql, silent)
  await sql.end()
  await embedded.stop()
  try {
    renameSync(dataDir, template)
  } catch (error) {
    // another process was first
    if (!existsSync(template)) throw error
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** A folder that PostgreSQL's user can enter, so that the copies have its program too. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-data-'))
  chmodSync(folder, 0o755)
  return folder
}
