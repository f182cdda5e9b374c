// Metrics and their text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). Of our own: prom-client
// makes the text of the labels at each observation, which takes twenty times as long as here, where callers keep what they
// count with; and its default collectors fail under Bun.

import { withTimeout } from '../timing.ts'

/** A value for each label of a metric, in the metric's order. No organization, user or id, which have no bound. */
type LabelValues = readonly string[]

/** Units come last: `_seconds`, `_bytes`; counters end in `_total`. */
type Name = `cloud_analytics_${string}`

/** The name and meaning of a metric. */
interface Description {
  name: Name
  help: string
  labels?: readonly string[]
}

export interface Counter {
  add(count?: number): void
}

/** A value that is read when the metrics are. */
interface Sample {
  labels?: LabelValues
  value: number
}

/** A metric of a state that is read when the metrics are; without a value where it is not known now. */
interface Gauge<State> extends Omit<Description, 'name'> {
  of: (state: State) => number | readonly Sample[] | undefined
}

type Gauges<State> = Record<Name, Gauge<State>>

type Read<State> = () => State | Promise<State | undefined>

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** One source of values is awaited this long. A scrape of Prometheus waits 10 s unless it is told otherwise. */
const READ_LIMIT_MS = 4_000

type Type = 'counter' | 'gauge' | 'histogram'

/** An empty registry. A name can be declared once. */
export function createRegistry() {
  const names = new Set<string>()
  const writers: (() => string | Promise<string>)[] = []

  const declare = (declared: readonly string[], write: () => string | Promise<string>) => {
    for (const name of declared) {
      if (names.has(name)) throw new Error(`the metric ${name} is declared twice`)
      names.add(name)
    }
    writers.push(write)
  }
  /** Declares a metric whose values are kept here, one for each combination of labels' values; returns what finds it. */
  const kept = <Child>(
    type: Type,
    description: Description,
    make: () => Child,
    linesOf: (child: Child, labels: LabelValues) => string,
  ) => {
    const children = new Map<string, { labels: LabelValues; child: Child }>()
    declare(
      [description.name],
      () =>
        head(type, description) +
        [...children.values()].map(({ labels, child }) => linesOf(child, labels)).join(''),
    )
    return (...labels: string[]): Child => {
      return children.getOrInsertComputed(labels.join('\0'), () => ({ labels, child: make() })).child
    }
  }
  const sampled = <State>(type: Type, read: Read<State>, gauges: Gauges<State>) =>
    declare(Object.keys(gauges), async () => {
      const reading = Promise.try(read).catch(() => undefined)
      const state = await withTimeout(reading, READ_LIMIT_MS, undefined)
      if (state === undefined) return ''
      const gaugeText = ([name, { of, ...meaning }]: [string, Gauge<State>]): string => {
        const description = { name, ...meaning }
        const value = of(state) ?? []
        const samples: readonly Sample[] = typeof value === 'number' ? [{ value }] : value
        const lines = samples.map((one) => line(description, one.labels, one.value))
        return lines.length === 0 ? '' : head(type, description) + lines.join('')
      }
      return Object.entries(gauges).map(gaugeText).join('')
    })

  return {
    /** Declares a counter; returns what finds the one of the labels' values, the same one each time. */
    counter: (description: Description): ((...labels: string[]) => Counter) =>
      kept('counter', description, createCounter, ({ value }, labels) => line(description, labels, value)),
    /** Adds a histogram; `bounds`: upper bounds of the buckets, ascending. */
    histogram: (description: Description, bounds: readonly number[]) =>
      kept(
        'histogram',
        description,
        () => createHistogram(bounds),
        (histogram, labels) => histogramLines(description, bounds, labels, histogram),
      ),
    /** Values of the state that `read` gives when the metrics are asked for; left out when it rejects, has none or takes too long. */
    gauges: <State>(read: Read<State>, gauges: Gauges<State>) => sampled('gauge', read, gauges),
    /** Does the same as `gauges` for counts that only grow and that another part keeps. */
    counts: <State>(read: Read<State>, counts: Gauges<State>) => sampled('counter', read, counts),
    /** All metrics as text, within READ_LIMIT_MS, also where a read fails. */
    async text(): Promise<string> {
      return (await Promise.all(writers.map((write) => write()))).join('')
    },
  }
}

export type Registry = ReturnType<typeof createRegistry>

function createCounter() {
  const counter = {
    value: 0,
    add(count = 1) {
      counter.value += count
    },
  }
  return counter
}

function createHistogram(bounds: readonly number[]) {
  const histogram = {
    /** Counts by bucket, not summed; the last one is above every bound. */
    counts: new Array<number>(bounds.length + 1).fill(0),
    sum: 0,
    /** Adds a value, in the metric's unit. */
    observe(value: number) {
      let index = 0
      while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1
      histogram.counts[index] = (histogram.counts[index] ?? 0) + 1
      histogram.sum += value
    },
  }
  return histogram
}

function histogramLines(
  { name, labels: names = [] }: Description,
  bounds: readonly number[],
  labels: LabelValues,
  { counts, sum }: ReturnType<typeof createHistogram>,
): string {
  let below = 0
  const buckets = counts.map((count, index) => {
    below += count
    const bucket = { name: `${name}_bucket`, labels: [...names, 'le'] }
    return line(bucket, [...labels, String(bounds[index] ?? '+Inf')], below)
  })
  const rest = [line({ name: `${name}_sum`, labels: names }, labels, sum)]
  return [...buckets, ...rest, line({ name: `${name}_count`, labels: names }, labels, below)].join('')
}

const head = (type: Type, { name, help }: { name: string; help: string }): string =>
  `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`

function line(
  { name, labels = [] }: { name: string; labels?: readonly string[] },
  values: LabelValues = [],
  value: number,
): string {
  const pairs = labels.map((label, index) => `${label}="${escapeValue(values[index] ?? '')}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`
}

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Writes a number as Go's ParseFloat reads it. */
const numberText = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
