/** Parameters that go along from page to page. */
const KEPT = ['range', 'from', 'to', 'project', 'team']

export const keptOf = (query: URLSearchParams): Record<string, string | undefined> =>
  Object.fromEntries(KEPT.map((name) => [name, query.get(name) ?? undefined]))
