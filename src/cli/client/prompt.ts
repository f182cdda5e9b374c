import { OperatorError } from '../../errors.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CTRL_U = '\u0015'
/** Backspace sends one of these. */
const ERASE = ['\u007f', '\b']
/** Longer than any key. */
const MAX_LENGTH = 4_096

/** Asks on the terminal for a line that is not shown. Throws OperatorError when the user gives up. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process
  // before the question: what is typed from then on is not shown
  stdin.setRawMode(true)
  stderr.write(question)
  stdin.resume()
  stdin.setEncoding('utf8')
  const line = Promise.withResolvers<string>()
  let text = ''
  const take = (chunk: string) => {
    for (const char of chunk) {
      if (char === '\r' || char === '\n') return line.resolve(text)
      if (char === CTRL_C || (char === CTRL_D && text === ''))
        return line.reject(new OperatorError('given up'))
      if (char === CTRL_U) text = ''
      else if (ERASE.includes(char)) text = text.slice(0, -1)
      else if (text.length < MAX_LENGTH) text += char
    }
  }
  const end = () => line.reject(new OperatorError('given up'))
  stdin.on('data', take).once('end', end)
  try {
    return await line.promise
  } finally {
    stdin.off('data', take).off('end', end)
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}

/** Asks on the terminal; only `y` and `yes` mean yes. */
export async function askYesNo(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `)
  for await (const line of console) return /^y(es)?$/i.test(line.trim())
  return false
}

/** Whether there is somebody to ask. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true
