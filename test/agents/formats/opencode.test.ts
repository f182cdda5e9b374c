import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { opencodeDatabase, opencodeSession } from '../agent-scripts.ts'
import { agentFiles } from '../reading.ts'

const { write, read } = agentFiles()

const session = (id: string) => opencodeSession([{ command: 'ls', exit: 0, output: 'a' }], { id, prefix: id })

test('a session more in a database leaves the records of the others as they were', async () => {
  const recordOf = async (...ids: string[]) => {
    const path = join(await write({ 'notes.md': '' }), 'opencode.db')
    opencodeDatabase(path, ids.map(session))
    return (await read(path)).records.find(({ id }) => id === 'sess_ses_2')
  }
  const alone = await recordOf('ses_2')
  expect(alone?.parts).toBeString()
  expect(await recordOf('ses_1', 'ses_2')).toEqual(alone)
})
