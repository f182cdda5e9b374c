// A parser of the text format of Prometheus, as strict as the format's description: prometheus.io/docs/instrumenting/
// exposition_formats. It does not use what the product reads its own metrics by.

interface Family {
  type: string
  help: string
  samples: { name: string; labels: Record<string, string>; value: number }[]
}

const SUFFIXES: Record<string, readonly string[]> = { histogram: ['_bucket', '_sum', '_count'] }

/** The labels between the braces, read character by character. Throws where they are malformed. */
function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== '') {
    const [start, name = ''] = /^([a-zA-Z_][a-zA-Z0-9_]*)="/.exec(rest) ?? []
    if (start === undefined || name in labels) throw new Error(`labels: ${text}`)
    rest = rest.slice(start.length)
    let value = ''
    while (!rest.startsWith('"')) {
      const [piece] = /^(?:\\[\\n"]|[^\\"\n])/.exec(rest) ?? []
      if (piece === undefined) throw new Error(`value: ${text}`)
      value += piece.startsWith('\\') ? (piece === '\\n' ? '\n' : (piece[1] ?? '')) : piece
      rest = rest.slice(piece.length)
    }
    rest = rest.slice(1)
    labels[name] = value
    if (rest !== '' && !rest.startsWith(',')) throw new Error(`labels: ${text}`)
    rest = rest.slice(1)
  }
  return labels
}

function parseValue(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  if (text === '-Inf') return Number.NEGATIVE_INFINITY
  if (text !== 'NaN' && !/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text))
    throw new Error(`number: ${text}`)
  return Number(text)
}

/** All metrics by name. Throws where the text breaks a rule of the format. */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let current: (Family & { name: string }) | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.*)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`${name} twice`)
      current = { name, type: '', help: rest, samples: [] }
      families.set(name, current)
    } else if (keyword === 'TYPE') {
      if (current?.name !== name || current.type !== '') throw new Error(`type of ${name}`)
      if (!/^(counter|gauge|histogram)$/.test(rest)) throw new Error(`type ${rest}`)
      current.type = rest
    } else {
      const [, sample = '', , labels = '', value = ''] =
        /^([a-zA-Z_:][\w:]*)(\{(.*)\})? (\S+)$/.exec(line) ?? []
      const allowed = (SUFFIXES[current?.type ?? ''] ?? ['']).map((suffix) => `${current?.name}${suffix}`)
      if (current === undefined || !allowed.includes(sample)) throw new Error(`line: ${line}`)
      const parsed = { name: sample, labels: parseLabels(labels), value: parseValue(value) }
      const id = JSON.stringify([sample, Object.entries(parsed.labels).sort()])
      if (seen.has(id)) throw new Error(`twice: ${line}`)
      seen.add(id)
      current.samples.push(parsed)
    }
  }
  return families
}

/** The sum of a metric's samples whose labels have these values. */
export function sumOf(text: string, name: string, labels: Record<string, string> = {}): number {
  const samples = parseExposition(text).get(`cloud_analytics_${name}`)?.samples ?? []
  return samples
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}
