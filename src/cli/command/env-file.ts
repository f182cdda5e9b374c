// Reads settings from the file of --env-file, as a unit of systemd reads it.

import { readFileSync } from 'node:fs'
import { codeOf, OperatorError } from '../../base/errors.ts'

type Environment = Record<string, string | undefined>

/** The environment with the variables of --env-file, else ENV_FILE, which come first. Throws OperatorError. */
export function withEnvFile(env: Environment, flag: string | undefined): Environment {
  const { ENV_FILE, ...others } = env
  const file = flag ?? ENV_FILE
  if (!file) return env
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const name = flag === undefined ? 'ENV_FILE' : '--env-file'
    throw new OperatorError(`${name} ${file} cannot be read (${codeOf(error) ?? 'unknown error'})`, 2)
  }
  return { ...others, ...parseEnvFile(text) }
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A variable: name, quoted parts of the value, and from the first character without quotes on the rest of the line. */
const VARIABLE =
  /^[^\S\n]*([^=\n]*?)[^\S\n]*=((?:[^\S\n]*(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"))*)[^\S\n]*((?:\\[\s\S]|[^\n\\])*)/gm

/** The variables of a text that systemd takes as `EnvironmentFile=`: comments, quotes, escapes, continued lines. */
export function parseEnvFile(text: string): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [, name = '', quoted = '', rest = ''] of text.matchAll(VARIABLE)) {
    // comments are no names either
    if (NAME.test(name)) variables[name] = unquoted(quoted) + unescaped(rest)
  }
  return variables
}

const unquoted = (text: string): string =>
  [...text.matchAll(/'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"/g)]
    .map(([, single, double = '']) => single ?? double.replace(/\\(["\\`$]|\n)/g, withoutBackslash))
    .join('')

/** Also removes white space at the end. */
const unescaped = (text: string): string => text.replace(/\\([\s\S])|[^\S\n]+$/g, withoutBackslash)

/** An escaped end of a line continues it. */
const withoutBackslash = (_all: string, char = ''): string => (char === '\n' ? '' : char)
