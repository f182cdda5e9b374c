const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_match, letter: string) => (letter === 'n' ? '\n' : letter))

/** Reads what a Registry writes; lines of another form are left out. */
export function readMetrics(text: string) {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, unescaped(text)])
    const found: Record<string, string> = Object.fromEntries(pairs)
    return { name, labels: found, value: Number(value.replace('Inf', 'Infinity')) }
  })
}
