import { expect, test } from 'bun:test'
import { COMMITS_AT_A_TIME } from '../../src/features/commits/write.ts'
import { account } from '../server/erasure/account.ts'
import { plainDatabase } from '../support/postgres.ts'
import { commitRecord } from '../support/records.ts'

test('commits are counted a group at a time, each with a plan for the parameters given', async () => {
  const database = await plainDatabase()
  const { sql } = database
  await sql.unsafe(`
    create table counted (plans text);
    create function note_count() returns trigger language plpgsql as
      $$ begin insert into counted values (current_setting('plan_cache_mode')); return null; end $$;
    create trigger note_count after insert on commit_rollups for each statement execute function note_count()`)
  const { sync, doctor } = await account(database)
  const batch = (subject: string) =>
    Array.from({ length: COMMITS_AT_A_TIME + 1 }, (_, n) => ({
      ...commitRecord(`c${n}`),
      ...{ committed_at: '2026-11-01T10:00:00Z', files: [], subject },
    }))
  await sync(batch('first'))
  await sync(batch('second'))
  await sync(batch('second'))
  // two groups: of the first batch after it, of the second before and after it
  const rows = await sql<{ plans: string }[]>`select c.plans from counted c`
  expect(rows.map(({ plans }) => plans)).toEqual(Array(6).fill('force_custom_plan'))
  expect(await doctor()).toStartWith('agree')
  await database.drop()
}, 180_000)
