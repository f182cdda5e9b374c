// Cuts answers of tools, texts of JSON within JSON, to a bounded size: agents cut longer ones, or put them into a file.

/** An answer has less than 25,600 bytes with what the protocol puts around it. */
const MAX_BYTES = 25_000
/** More than the API's pages that can be asked for. */
const PAGES = 1_000_000
/** The largest `page` of a tool: a page of the API has 50 items, and so 50 parts at most. */
export const MAX_PAGE = 50 * PAGES

const bytesOf = (answer: object): number => Buffer.byteLength(JSON.stringify(JSON.stringify(answer)))

/** Divides the items into runs of which each fits into an answer beside `rest`; at least one run. */
function runsOf(items: readonly object[], rest: object): object[][] {
  const space = MAX_BYTES - bytesOf({ ...rest, data: [], next_page: MAX_PAGE })
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

/** A page of a list that is computed as a whole. */
export function pageOfAll(items: readonly object[], page = 1, rest: object = {}): object {
  const runs = runsOf(items, rest)
  return { ...rest, data: runs[page - 1] ?? [], next_page: page < runs.length ? page + 1 : null }
}

/** The API's page that has a page: page 1000002 is the second part of page 2, where that does not fit into one answer. */
export const apiPage = (page = 1) => ({ page: String(((page - 1) % PAGES) + 1) })

/** The part of the API's page that `page` names. */
export function partOfPage(
  body: { data: object[]; pagination: { page: number; per_page: number; total: number } },
  page = 1,
): object {
  const { data, ...rest } = body
  const { pagination } = rest
  const runs = runsOf(data, rest)
  const part = (page - pagination.page) / PAGES
  const isLast = pagination.page * pagination.per_page >= pagination.total
  const nextPage = isLast ? null : pagination.page + 1
  const next = part + 1 < runs.length ? page + PAGES : nextPage
  return { data: runs[part] ?? [], ...rest, next_page: next }
}

/** The answer with `next_page`; where it is too large still, the longest of its lists is halved until it fits. */
export function fitted(body: object): object {
  const answer: object = { next_page: null, ...body }
  while (bytesOf(answer) > MAX_BYTES) {
    const longest = listsIn(answer).reduce((a, b) => (b.length > a.length ? b : a), [])
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
