import { Hono } from 'hono'
import postgres from 'postgres'
import type { ListRow, PeerOptions } from './list.ts'

// A page of sessions by Hono and postgres.js on Bun: prepared statements, a pool of the same size.

const options: PeerOptions = JSON.parse(process.argv[2] ?? '{}')
const sql = postgres({
  path: `${options.socketDir}/.s.PGSQL.5432`,
  user: 'postgres',
  database: options.database,
  max: options.pool,
})
const app = new Hono()
app.get('/sessions', async (context) => {
  const { date_from = '', date_to = '' } = context.req.query()
  const values = [options.orgId, date_from, date_to]
  const page = sql.unsafe<ListRow[]>(options.pageSql, values, { prepare: true })
  const count = options.withTotal
    ? sql.unsafe<{ total: number }[]>(options.countSql, values, { prepare: true })
    : null
  const data = (await page).map((row) => ({
    ...row,
    estimated_cost: Number(row.estimated_cost),
    quality_score: Number(row.quality_score),
    created_at: row.created_at.toISOString(),
  }))
  return context.json({ data, pagination: { page: 1, per_page: 50, total: (await count)?.[0]?.total ?? -1 } })
})
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: app.fetch })
process.stdout.write(`${server.port}\n`)
