import { plural } from '../../base/text.ts'
import { countStored, exportLines } from '../../server/sync/export.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { outputStream } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'

/** `export`: the organization's records on standard output; --json changes nothing, they are JSON already. */
export async function exportRecords(context: Context, { org }: { org: string }): Promise<void> {
  await withOrganization(context, org, async (sql, id) => {
    const output = outputStream()
    const total = await countStored(sql, id)
    using progress = await startProgress('exporting', total)
    let done = 0
    for await (const lines of exportLines(sql, id)) {
      if (lines !== '' && !(await output.write(lines))) return
      done += lines.split('\n').length - 1
      progress.set(done, plural(done, 'record'))
    }
  })
}
