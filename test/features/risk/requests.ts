import { expect } from 'bun:test'
import { jsonPost } from '../../support/api.ts'

// Requests that write and list pull requests.

export type Ask = (path: string, init?: RequestInit) => Promise<Response>

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
