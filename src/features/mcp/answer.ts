// Answers of tools are texts of JSON within JSON, of a bounded size: agents cut longer ones, or put them into a file.

/** An answer has less than 25,600 bytes with what the protocol puts around it. */
const MAX_BYTES = 25_000
/** The largest number of parts of a page of the API: it has at most 100 items. */
const PARTS = 100

const bytesOf = (answer: object): number => Buffer.byteLength(JSON.stringify(JSON.stringify(answer)))

/** Divides the items into runs of which each fits into an answer beside `rest`; at least one run. */
export function runsOf(items: readonly object[], rest: object): object[][] {
  const space = MAX_BYTES - bytesOf({ ...rest, data: [], next_page: 1_000_000_000 })
  const runs: object[][] = [[]]
  let left = space
  for (const item of items) {
    const size = bytesOf(item)
    if (size > left && runs.at(-1)?.length !== 0) {
      runs.push([])
      left = space
    }
    runs.at(-1)?.push(item)
    left -= size
  }
  return runs
}

/** Page `page`, from 1, of a list that is computed as a whole. */
export function pageOfAll(items: readonly object[], page: number, rest: object = {}): object {
  const runs = runsOf(items, rest)
  return { ...rest, data: runs[page - 1] ?? [], next_page: page < runs.length ? page + 1 : null }
}

interface ApiPage {
  data: object[]
  pagination: { page: number; per_page: number; total: number }
}

/** The API's page that holds an answer's page: page 2.01 is the second part of page 2, where that does not fit into one answer. */
export const apiPageOf = (page: number): number => Math.floor(page)

/** The part of the API's page that `page` names. */
export function partOfPage(found: ApiPage, page: number): object {
  const { data, pagination, ...rest } = found
  const runs = runsOf(data, { ...rest, pagination })
  const part = Math.round((page - apiPageOf(page)) * PARTS)
  const isLast = pagination.page * pagination.per_page >= pagination.total
  const next = isLast ? null : pagination.page + 1
  return {
    ...{ data: runs[part] ?? [], pagination, ...rest },
    next_page: part + 1 < runs.length ? pagination.page + (part + 1) / PARTS : next,
  }
}

/** An answer without pages: where it is too large its longest lists are cut to their first half, again and again. */
export function whole(found: object): object {
  const answer: object = { ...structuredClone(found), next_page: null }
  while (bytesOf(answer) > MAX_BYTES) {
    const longest = listsIn(answer).reduce((a, b) => (b.length > a.length ? b : a), [])
    if (longest.length === 0) return answer
    longest.length = Math.floor(longest.length / 2)
    Object.assign(answer, { truncated: true })
  }
  return answer
}

function listsIn(value: unknown): unknown[][] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(listsIn)
  return Array.isArray(value) ? [value, ...below] : below
}
