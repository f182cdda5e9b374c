// The rules that find secrets: secretlint's recommended preset, and rules for kinds that it lacks.

import type { Severity } from '../records/finding.ts'
import { ASSIGNED_RULES } from './assigned-secrets.ts'
import { LOGIN_RULES } from './login-rules.ts'
import type { LongWord } from './long-words.ts'
import { hasNeeded, type Searched, searchedOf } from './prepare-text.ts'
import { loadPresetRules, type Report, reportsOf, rulesFor } from './preset-rules.ts'
import { type OwnRule, SERVICE_RULES } from './service-rules.ts'

/** Separates texts that are scanned together: no rule matches across it. */
export const TEXT_SEPARATOR = '\n\u0000\u0000\n'

/** A secret with its plain text, which `findSecrets` replaces by a fingerprint. */
export interface RawFinding {
  ruleId: string
  title: string
  start: number
  secret: string
  /** Number of characters in the text, if it differs from the length of `secret`: inside base64. */
  length?: number
  severity: Severity
}

/** Message ids of the preset that are no secrets. */
const NOT_SECRET = new Set(['AWSAccountID'])
/** Examples of addresses match this: their password is none. */
const EXAMPLE_LOGIN = /\/\/user(?:name)?:pass(?:word)?@/i
/** Examples and masked texts have this in place of a secret of any form. */
const MASKED = /x{8}|X{8}/
/** Message ids of medium severity: a key id is of no use without its key. */
const MEDIUM = new Set(['AWSAccessKeyID'])

/** A rule for a token that its form alone tells. `heads`: with spaces between them. */
const token = (ruleId: string, title: string, heads: string, pattern: RegExp): OwnRule => ({
  ...{ ruleId, title, heads: heads.split(' '), pattern, severity: 'high' },
})

// Kinds that the preset lacks. Each has a fixed prefix, which makes false positives unlikely. Patterns after gitleaks
// (MIT).
export const OWN_RULES: readonly OwnRule[] = [
  {
    // the preset finds only complete keys in some encodings; this also finds cut, encrypted and PGP keys
    ruleId: 'privatekey',
    title: 'private key',
    needed: ['-----BEGIN'],
    pattern:
      /-----BEGIN[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\{1,4}[nr]){1,8}[A-Za-z0-9+/=][A-Za-z0-9+/=\s\\.…]{3,20000}-----END[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----|-----BEGIN[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\{1,4}[nr]|[A-Za-z-]{1,40}: [^\n]{1,100}\n){1,20}[A-Za-z0-9+/=]{30}[A-Za-z0-9+/=\s\\]{0,20000}(?:-----END[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    severity: 'high',
  },
  token('google-api-key', 'Google API key', 'AIza', /\bAIza[\w-]{35}(?![\w-])/g),
  token('pypi-token', 'PyPI upload token', 'pypi', /\bpypi-AgEIcHlwaS5vcmc[\w-]{50,1000}/g),
  token('digitalocean-token', 'DigitalOcean token', 'p_v1 o_v1 r_v1', /\bdo[opr]_v1_[a-f0-9]{64}\b/g),
  {
    ruleId: 'json-web-token',
    title: 'JSON web token',
    word: /\.ey[\w/-]{17}/,
    // finds the middle first: from every `ey` of a text without a point, 400 KB of `ey-` took 10 s
    pattern: /\.ey(?=([\w/-]{17,}\.[\w/-]{10,}))/g,
    severity: 'medium',
    secretIn({ index, input, 1: rest = '' }) {
      const head = wordBefore(input, index)
      const at = head.search(/\bey[\w-]{17}/)
      return at === -1 ? null : { at: at - head.length, secret: `${head.slice(at)}.ey${rest}` }
    },
  },
  token('google-oauth-secret', 'Google OAuth client secret', 'GOCS', /\bGOCSPX-[\w-]{28}(?![\w-])/g),
  // every product that implements Standard Webhooks has secrets of this form
  token(
    'webhook-secret',
    'webhook signing secret',
    'whse',
    /\bwhsec_[A-Za-z0-9+/]{24,128}={0,2}(?![A-Za-z0-9+/])/g,
  ),
  token('cloud-analytics-key', 'Cloud Analytics API key', 'ca_l', /\bca_live_[a-z0-9]{8}_[A-Za-z0-9]{38}\b/g),
  ...SERVICE_RULES,
  ...LOGIN_RULES,
  ...ASSIGNED_RULES,
]

/** The letters, digits, `_` and `-` that end before `end`. */
function wordBefore(text: string, end: number): string {
  let start = end
  while (start > 0 && /[\w-]/.test(text.charAt(start - 1))) start -= 1
  return text.slice(start, end)
}

/** Finds the secrets in one text, which has these long words. */
export type Scanner = (text: string, words: readonly LongWord[]) => Promise<RawFinding[]>

/** Loads the rules, which takes 40 ms and 30 MB; loaded on first use, not at the start of the server. */
export async function loadScanner(): Promise<Scanner> {
  const presetRules = await loadPresetRules()
  return async (text, words) => {
    const searched = searchedOf(text, words)
    const ownSecrets = ownRulesFor(searched).flatMap((rule) => [...ownFindings(rule, text)])
    const reports = await reportsOf(rulesFor(presetRules, searched), text)
    return [...rawFindings(reports, text), ...ownSecrets].filter(({ secret }) => !MASKED.test(secret))
  }
}

function rawFindings(reports: readonly Report[], text: string): RawFinding[] {
  // a secret that is found 50,000 times is described once
  const titles = new Map<string, string>()
  return reports.flatMap((report) => {
    const { ruleId, messageId, start, end } = report
    if (NOT_SECRET.has(messageId)) return []
    const inner = secretIn(report)
    const secret = inner ?? text.slice(start, end)
    if (ruleId === 'basicauth' && EXAMPLE_LOGIN.test(text.slice(start, end + 1))) return []
    const key = `${messageId} ${secret}`
    const title = titles.get(key) ?? titleOf(report, inner)
    titles.set(key, title)
    // the range of some rules starts before the secret (`aws_secret_access_key = `)
    const at = text.indexOf(secret, start)
    const severity = MEDIUM.has(messageId) ? 'medium' : 'high'
    return [{ ruleId, title, start: at === -1 ? start : at, secret, severity }]
  })
}

function secretIn({ data }: Report): string | undefined {
  let longest: string | undefined
  for (const key in data) {
    const value = data[key]
    if (typeof value !== 'string' || key !== key.toUpperCase()) continue
    if (longest === undefined || value.length > longest.length) longest = value
  }
  return longest
}

// `found GitHub Token(…): ghp_…`: the text before the colon, or the message id if that text is unusable
function titleOf(report: Report, secret: string | undefined): string {
  const words = report.message.split(': ')[0]?.replace(/^found |\s*\(.*$/g, '') ?? ''
  return words === '' || words.length > 100 || (secret !== undefined && words.includes(secret))
    ? report.messageId
    : words
}

const HEAD_LENGTH = 4
const HEADS = new RegExp(
  `(?:${[...new Set(OWN_RULES.flatMap(({ heads = [] }) => heads))].join('|').replaceAll('.', '\\.')})[\\w+/=.-]{16}`,
  'g',
)

/**
 * The heads in the long words of a text. All have four fixed characters, so that 16 characters in a row are compared at
 * once: one search for 90 heads takes little longer than one for 40, and a fifth of what three rules take.
 */
function headsIn(words: string): ReadonlySet<string> {
  const heads = new Set<string>()
  HEADS.lastIndex = 0
  for (let match = HEADS.exec(words); match !== null; match = HEADS.exec(words)) {
    heads.add(match[0].slice(0, HEAD_LENGTH))
    HEADS.lastIndex = match.index + HEAD_LENGTH
  }
  return heads
}

export function ownRulesFor(searched: Searched): OwnRule[] {
  const present = headsIn(searched.words)
  return OWN_RULES.filter(
    ({ heads, word, needed }) =>
      (heads === undefined || heads.some((head) => present.has(head))) &&
      (word === undefined || word.test(searched.words)) &&
      (needed === undefined || hasNeeded(searched, needed)),
  )
}

export function* ownFindings(rule: OwnRule, text: string): Generator<RawFinding> {
  const { ruleId, title, severity } = rule
  for (const match of text.matchAll(rule.pattern)) {
    const inner = rule.secretIn === undefined ? { at: 0, secret: match[0] } : rule.secretIn(match)
    if (inner !== null) yield { ruleId, title, start: match.index + inner.at, secret: inner.secret, severity }
  }
}
