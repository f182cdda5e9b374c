import { withTimeout } from '../timeout.ts'

// Metrics and their text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). Of our own: the
// default collectors of prom-client fail under Bun, and it looks labels up on each observation; here callers keep what
// they count with.

/** A value for each label of a metric, in the metric's order. No organization, user or id, which have no bound. */
type LabelValues = readonly string[]

/** The name and meaning of a metric. Units come last: `_seconds`, `_bytes`; counters end in `_total`. */
interface Description {
  name: `cloud_analytics_${string}`
  help: string
  labels?: readonly string[]
}

export interface Counter {
  add(count?: number): void
}

interface Histogram {
  /** Adds a value, in the metric's unit. */
  observe(value: number): void
}

/** A value that is read when the metrics are. */
interface Sample {
  labels?: LabelValues
  value: number
}

/** A metric of a state that is read when the metrics are; without a value where it is not known now. */
interface Gauge<State> extends Description {
  of: (state: State) => number | readonly Sample[] | undefined
}

export interface Registry {
  /** Declares a counter; returns what finds the one of the labels' values, the same one each time. */
  counter(description: Description): (...labels: string[]) => Counter
  /** Adds a histogram; `bounds`: upper bounds of the buckets, ascending. */
  histogram(description: Description, bounds: readonly number[]): (...labels: string[]) => Histogram
  /** Values of the state that `read` gives when the metrics are asked for; left out when it rejects, has none or takes too long. */
  gauges<State>(read: () => State | Promise<State | undefined>, gauges: readonly Gauge<State>[]): void
  /** Does the same as `gauges` for counts that only grow and that another part keeps. */
  counts<State>(read: () => State | Promise<State | undefined>, counts: readonly Gauge<State>[]): void
  /** All metrics as text, within READ_LIMIT_MS; never rejects. */
  text(): Promise<string>
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** One source of values is awaited this long. A scrape of Prometheus waits 10 s unless it is told otherwise. */
const READ_LIMIT_MS = 4_000

type Type = 'counter' | 'gauge' | 'histogram'

/** An empty registry. A name can be declared once. */
export function createRegistry(): Registry {
  const names = new Set<string>()
  const writers: (() => string | Promise<string>)[] = []

  const declare = (descriptions: readonly Description[], write: () => string | Promise<string>) => {
    for (const { name } of descriptions) {
      if (names.has(name)) throw new Error(`the metric ${name} is declared twice`)
      names.add(name)
    }
    writers.push(write)
  }
  const sampled = <State>(
    type: Type,
    read: () => State | Promise<State | undefined>,
    gauges: readonly Gauge<State>[],
  ) =>
    declare(gauges, async () => {
      const reading = Promise.try(read).catch(() => undefined)
      const state = await withTimeout(reading, READ_LIMIT_MS, undefined)
      if (state === undefined) return ''
      return gauges.map((gauge) => linesOf(type, gauge, gauge.of(state))).join('')
    })

  return {
    counter(description) {
      const { childOf, entries } = createFamily(createCounter)
      declare(
        [description],
        () =>
          head(description, 'counter') +
          entries()
            .map(({ labels, child }) => line(description.name, description.labels, labels, child.value))
            .join(''),
      )
      return childOf
    },
    histogram(description, bounds) {
      const { childOf, entries } = createFamily(() => createHistogram(bounds))
      declare(
        [description],
        () =>
          head(description, 'histogram') +
          entries()
            .map(({ labels, child }) => histogramLines(description, bounds, labels, child))
            .join(''),
      )
      return childOf
    },
    gauges: (read, gauges) => sampled('gauge', read, gauges),
    counts: (read, counts) => sampled('counter', read, counts),
    async text() {
      return (await Promise.all(writers.map((write) => write()))).join('')
    },
  }
}

function linesOf(type: Type, description: Description, value: ReturnType<Gauge<never>['of']>): string {
  const samples: readonly Sample[] = typeof value === 'number' ? [{ value }] : (value ?? [])
  if (samples.length === 0) return ''
  const { name, labels } = description
  return head(description, type) + samples.map((one) => line(name, labels, one.labels, one.value)).join('')
}

/** The counters or histograms of a metric, one for each combination of labels' values. */
function createFamily<Child>(make: () => Child) {
  const children = new Map<string, { labels: LabelValues; child: Child }>()
  return {
    childOf(...labels: string[]): Child {
      const key = labels.join('\0')
      let known = children.get(key)
      if (known === undefined) {
        known = { labels, child: make() }
        children.set(key, known)
      }
      return known.child
    },
    entries: () => [...children.values()],
  }
}

function createCounter() {
  const counter = {
    value: 0,
    add(count = 1) {
      counter.value += count
    },
  }
  return counter
}

interface Distribution {
  /** Counts by bucket, not summed; the last one is above every bound. */
  counts: number[]
  sum: number
}

function createHistogram(bounds: readonly number[]): Distribution & Histogram {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  const histogram = {
    counts,
    sum: 0,
    observe(value: number) {
      let index = 0
      while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1
      counts[index] = (counts[index] ?? 0) + 1
      histogram.sum += value
    },
  }
  return histogram
}

function histogramLines(
  { name, labels: names = [] }: Description,
  bounds: readonly number[],
  labels: LabelValues,
  { counts, sum }: Distribution,
): string {
  let below = 0
  const buckets = counts.map((count, index) => {
    below += count
    return line(`${name}_bucket`, [...names, 'le'], [...labels, String(bounds[index] ?? '+Inf')], below)
  })
  return [
    ...buckets,
    line(`${name}_sum`, names, labels, sum),
    line(`${name}_count`, names, labels, below),
  ].join('')
}

const head = ({ name, help }: Description, type: Type): string =>
  `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`

function line(name: string, labels: readonly string[] = [], values: LabelValues = [], value: number): string {
  const pairs = labels.map((label, index) => `${label}="${escapeValue(values[index] ?? '')}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`
}

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Writes a number as Go's ParseFloat reads it. */
const numberText = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
