/** A line of the metrics' text. */
interface ReadSample {
  name: string
  labels: Record<string, string>
  value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_match, letter: string) => (letter === 'n' ? '\n' : letter))

/** Reads what a Registry writes; lines of another form are left out. */
export function readMetrics(text: string): ReadSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, unescaped(text)])
    return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) }
  })
}
