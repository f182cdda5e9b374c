import { expect } from 'bun:test'
import { jsonPost } from './api.ts'

// pr_risk records, and requests that write and list them.

export type Ask = (path: string, init?: RequestInit) => Promise<Response>

export interface Risk {
  type: 'pr_risk'
  repo: string
  pr_number: number
  pr_title: string
  files_changed: number
  created_at: string
  impact_score: number
  regression_score: number
  security_score: number
  coupling_score: number
}

export const bodyOf = async (response: Response) => JSON.parse(await response.text())

export const post = (ask: Ask, records: unknown[]) => ask('/v1/sync', jsonPost({ records }))

export async function sync(ask: Ask, records: unknown[]) {
  const response = await post(ask, records)
  expect([response.status, response.status === 200 ? '' : await response.clone().text()]).toEqual([200, ''])
  const { created, updated, unchanged } = await bodyOf(response)
  return { created, updated, unchanged }
}

export async function list(ask: Ask, query: Record<string, string | number> = {}) {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const response = await ask(`/v1/risk?${search}`)
  expect(response.status).toBe(200)
  return await bodyOf(response)
}

export const firstOf = async (ask: Ask) => (await list(ask)).data[0]

export const given = (over: Partial<Risk> & Record<string, unknown> = {}) => ({
  type: 'pr_risk' as const,
  repo: 'acme/shop',
  pr_number: 1,
  pr_title: 'Fix rounding',
  files_changed: 3,
  created_at: '2026-10-01T10:00:00Z',
  impact_score: 70,
  regression_score: 55,
  security_score: 60,
  coupling_score: 75,
  ...over,
})
