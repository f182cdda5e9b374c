import { visible } from '../../base/text.ts'
import { printMessage } from './output.ts'

/** The progress of a long command, on standard error. */
interface Progress extends Disposable {
  /** Sets how much is done, and a note beside it. */
  set(done: number, note?: string): void
}

const LINE_EVERY_MS = 5_000

/** A bar on a terminal, elsewhere a line every five seconds; it ends with its block (`using`). `total` may be null. */
export async function startProgress(label: string, total: number | null, quiet = false): Promise<Progress> {
  if (quiet) return { set() {}, [Symbol.dispose]() {} }
  return process.stderr.isTTY && total !== null ? await startBar(label, total) : startLines(label, total)
}

async function startBar(label: string, total: number): Promise<Progress> {
  const { default: cliProgress } = await import('cli-progress')
  const format = `${label} {bar} {percentage}% {note}`
  const bar = new cliProgress.SingleBar(
    { format, barsize: 30, clearOnComplete: true, hideCursor: true },
    cliProgress.Presets.rect,
  )
  bar.start(total, 0, { note: '' })
  return {
    set: (done, note = '') => bar.update(Math.min(done, total), { note: visible(note) }),
    [Symbol.dispose]: () => bar.stop(),
  }
}

/** Uses a timer: one statement may take longer than the time between two lines. */
function startLines(label: string, total: number | null): Progress {
  let [done, note] = [0, '']
  const timer = setInterval(() => {
    const share = total === null || total === 0 ? '' : ` ${Math.floor((100 * done) / total)} %`
    printMessage(`${label}:${share} ${note}`.trimEnd())
  }, LINE_EVERY_MS)
  return {
    set(current, currentNote = '') {
      ;[done, note] = [current, currentNote]
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
