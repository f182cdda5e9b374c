// Rules for passwords known by the form of file, address or command line. Most are examples: they must look random.

import type { Needed } from './prepare-text.ts'
import { looksRandom } from './random-text.ts'
import type { OwnRule } from './service-rules.ts'

/** A character of a password: no reference to a variable, and none that ends it. */
const OF_PASSWORD = '[^\\s"\'`$<>{}()\\\\]'

export const LOGIN_RULES: readonly OwnRule[] = [
  login(
    'netrc-password',
    'password in .netrc',
    ['login'],
    `\\blogin\\s{1,8}\\S{1,100}\\s{1,8}password\\s{1,8}(${OF_PASSWORD}{8,200})`,
  ),
  login(
    'pgpass-password',
    'password in .pgpass',
    /:\d{4,5}:\w/,
    `^[\\w.*-]{1,253}:\\d{4,5}:[\\w*-]{1,63}:[\\w.-]{1,63}:(${OF_PASSWORD}{8,200})$`,
  ),
  login(
    'command-password',
    'password of a command',
    /ENV [A-Z0-9_]{3,100} /,
    `\\bENV (?:[A-Z0-9]{1,20}_){0,4}(?:TOKEN|SECRET|PASSWORD|API_KEY) ["']?(${OF_PASSWORD}{8,200})`,
  ),
  {
    ruleId: 'command-password',
    title: 'password of a command',
    needed: /-(?:[pu]|user|password|token)[ =]/,
    pattern: /(?<!\S)-(p|u|-user|-proxy-user|-password|-token)[ =]["']?([^\s"'`$<>{}()\\]{8,300})/g,
    severity: 'high',
    secretIn: commandPassword,
  },
  {
    ruleId: 'url-password',
    title: 'address with a password',
    needed: /:\/\/[\w.%+-]{0,100}:[\s\S]{8,200}@/,
    pattern: /\b[a-z][a-z\d+.-]{1,20}:\/\/[\w.%+-]{0,100}:([^\s:@/"'`<>{}$]{8,200})@[\w.[\]:-]{1,253}/g,
    severity: 'high',
    secretIn: ({ 0: secret, 1: password = '' }) => (looksRandom(password, 8) ? { at: 0, secret } : null),
  },
  {
    ruleId: 'encoded-login',
    title: 'login in base64',
    needed: ['asic ', '"auth"', '"auth\\"', '_auth='],
    pattern:
      /(?:\b[Bb]asic |"auth\\?"[ \t]{0,4}:[ \t]{0,4}\\?"|\b_auth="?)([A-Za-z\d+/]{12,1000}={0,2})(?![A-Za-z\d+/=])/g,
    severity: 'high',
    secretIn: ({ 0: match, 1: secret = '' }) => {
      const plain = Buffer.from(secret, 'base64').toString('latin1')
      const password = /^[\x20-\x39\x3b-\x7e]+:([\x20-\x7e]+)$/.exec(plain)?.[1] ?? ''
      return looksRandom(password, 8) ? { at: match.length - secret.length, secret } : null
    },
  },
]

/** A rule for a password at the end of a match. */
function login(ruleId: string, title: string, needed: Needed, form: string): OwnRule {
  return {
    ruleId,
    title,
    needed,
    pattern: new RegExp(form, 'gm'),
    severity: 'high',
    secretIn: ({ 0: match, 1: secret = '' }) =>
      looksRandom(secret, 8) ? { at: match.length - secret.length, secret } : null,
  }
}

/** `curl -u name:password`, `--password …`, and `-p` of the commands whose option for a password that is. */
function commandPassword({ 0: match, 1: option = '', 2: value = '', index, input }: RegExpExecArray) {
  const isOfUser = /^u|user$/.test(option)
  const secret = isOfUser ? value.slice(value.indexOf(':') + 1) : value
  if (isOfUser && secret === value) return null
  if (option === 'p' && !/\b(?:login|sshpass)\b[^\n]*$/.test(input.slice(Math.max(0, index - 200), index)))
    return null
  return looksRandom(secret, 8) ? { at: match.length - secret.length, secret } : null
}
