import { expect, test } from 'bun:test'
import { connect } from '../../src/database/client.ts'
import { scratchFolder } from '../support/at-end.ts'
import { run } from '../support/cli.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { citusUrls } from '../support/scaling/citus.ts'
import { blockOf } from '../support/scaling/proxies.ts'

// The set-up of docs/scaling.md, as it is written there.

test.skipIf(citusUrls.length !== 3)(
  'the statements and commands of the page distribute a database',
  async () => {
    await using database = await emptyDatabase()
    using folder = scratchFolder()
    const onNode = async (url: string, text: string) => {
      const sql = connect({ url }, { max: 1, applicationName: 'test-docs' })
      // a statement at a time, as psql sends them
      for (const statement of text.split(';')) if (statement.trim() !== '') await sql.unsafe(statement)
      await sql.end()
    }
    const everywhere = await blockOf('-- on every node', 'sql')
    for (const url of database.nodes) await onNode(url, everywhere)
    let text = await blockOf('-- on the coordinator', 'sql')
    for (const [index, name] of ['coordinator', 'worker-1', 'worker-2'].entries()) {
      const { hostname, port } = new URL(database.nodes[index] ?? '')
      expect(text).toContain(`'${name}', 5432`)
      text = text.replace(`'${name}', 5432`, `'${hostname}', ${port}`)
    }
    await onNode(database.url, text)
    const commands = (await blockOf('cloud-analytics migrate --citus')).trim().split('\n')
    expect(commands).toHaveLength(2)
    for (const command of commands) {
      const [, ...args] = command.split(' ')
      const { code, stderr } = await run(args, { DATA_DIR: folder.path, DATABASE_URL: database.url })
      expect([command, code, stderr]).toEqual([command, 0, ''])
    }
  },
  180_000,
)
