// The list of sessions as a team would write it without rollups: what the peers share.

/** A peer gets these as JSON when it is started. */
export interface PeerOptions {
  socketDir: string
  database: string
  orgId: string
  /** Connections. */
  pool: number
  withTotal: boolean
  pageSql: string
  countSql: string
}

export interface ListRow {
  id: string
  project_name: string
  turns: number
  estimated_cost: string
  quality_score: string
  created_at: Date
}

const FROM = `from sessions
where org_id = $1 and created_at >= $2::date and created_at < $3::date + 1`

export const PAGE_SQL = `select id, project as project_name, turns, estimated_cost, quality_score, created_at
${FROM}
order by created_at desc, id desc
limit 50`

export const COUNT_SQL = `select count(*)::integer as total
${FROM}`

const text = { type: 'string' }
const number = { type: 'number' }

/** Fastify's compiled serializer uses this. */
export const LIST_SCHEMA = {
  type: 'object',
  properties: {
    data: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: text,
          project_name: text,
          turns: { type: 'integer' },
          estimated_cost: number,
          quality_score: number,
          created_at: text,
        },
      },
    },
    pagination: {
      type: 'object',
      properties: { page: number, per_page: number, total: number },
    },
  },
}
