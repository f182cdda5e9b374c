import Fastify from 'fastify'
import { Pool } from 'pg'
import { LIST_SCHEMA, type ListRow, type PeerOptions } from './list.ts'

// A page of sessions by Fastify and pg: prepared statements, a compiled response schema, a pool of the same size.

const options: PeerOptions = JSON.parse(process.argv[2] ?? '{}')
const pool = new Pool({
  host: options.socketDir,
  user: 'postgres',
  database: options.database,
  max: options.pool,
})
const app = Fastify()
app.get<{ Querystring: { date_from: string; date_to: string } }>(
  '/sessions',
  { schema: { response: { 200: LIST_SCHEMA } } },
  async ({ query }) => {
    const values = [options.orgId, query.date_from, query.date_to]
    const page = pool.query<ListRow>({ name: 'page', text: options.pageSql, values })
    const count = options.withTotal
      ? pool.query<{ total: number }>({ name: 'count', text: options.countSql, values })
      : null
    const data = (await page).rows.map((row) => ({
      ...row,
      estimated_cost: Number(row.estimated_cost),
      quality_score: Number(row.quality_score),
      created_at: row.created_at.toISOString(),
    }))
    return { data, pagination: { page: 1, per_page: 50, total: (await count)?.rows[0]?.total ?? -1 } }
  },
)
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
