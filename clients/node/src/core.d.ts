/** Settings of a client. */
export interface CloudAnalyticsOptions {
  /** `ca_live_…`; else the environment's CLOUD_ANALYTICS_KEY. Badges and `service` need none. */
  apiKey?: string
  /** The server's address; else the environment's CLOUD_ANALYTICS_SERVER, else `http://127.0.0.1:8080`. */
  baseUrl?: string
  /** Milliseconds that one attempt may take, its answer included; 30,000 unless given. */
  timeout?: number
  /** Attempts after the first, where repeating is safe and may help; 2 unless given. */
  maxRetries?: number
}

/** What every method takes last. */
export interface RequestOptions {
  /** Ends the request, and the wait for a retry: the promise is rejected with the signal's reason. */
  signal?: AbortSignal
  /** Names what `webhooks.create` makes: again within 24 hours it is made once, so that it may be repeated. */
  idempotencyKey?: string
}

/** Resources whose methods take the options after their own parameters. */
export type WithOptions<Resource> = {
  [Name in keyof Resource]: Resource[Name] extends (...args: infer Args) => infer Answer
    ? (...args: [...Args, options?: RequestOptions]) => Answer
    : WithOptions<Resource[Name]>
}

/** One page of a list. */
export interface Page<Item> {
  data: Item[]
  pagination: { page: number; per_page: number; total: number }
}

/**
 * Awaited it is its page, iterated over it is all items from that page on, no id twice: one request for each page, none after
 * leaving.
 */
export interface List<Answer extends { data: unknown[] }>
  extends Promise<Answer>,
    AsyncIterable<Answer['data'][number]> {}
