import type { SecretLintCoreConfig, SecretLintCoreResultMessage } from '@secretlint/types'
import type { Severity } from '../records/finding.ts'

// The rules that find secrets: secretlint's recommended preset, and rules for kinds that it lacks.

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

const PRESET = '@secretlint/secretlint-rule-preset-recommend'
/** The preset's rule for ids of AWS keys is off by default. */
const RULE_OPTIONS = [{ id: '@secretlint/secretlint-rule-aws', options: { enableIDScanRule: true } }]
/** Message ids of the preset that are no secrets. */
const NOT_SECRET = new Set(['AWSAccountID'])
/** Message ids of medium severity: a key id is of no use without its key. */
const MEDIUM = new Set(['AWSAccessKeyID'])

// Kinds that the preset lacks. Each has a fixed prefix, which makes false positives unlikely. Patterns after gitleaks
// (MIT).
const OWN_RULES: readonly { ruleId: string; title: string; pattern: RegExp; severity: Severity }[] = [
  {
    // the preset finds only complete keys in some encodings; this also finds cut, encrypted and PGP keys
    ruleId: 'privatekey',
    title: 'private key',
    pattern:
      /-----BEGIN[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\{1,4}[nr]){1,8}[A-Za-z0-9+/=][A-Za-z0-9+/=\s\\.…]{3,20000}-----END[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----|-----BEGIN[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\{1,4}[nr]|[A-Za-z-]{1,40}: [^\n]{1,100}\n){1,20}[A-Za-z0-9+/=]{30}[A-Za-z0-9+/=\s\\]{0,20000}(?:-----END[ A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    severity: 'high',
  },
  {
    ruleId: 'google-api-key',
    title: 'Google API key',
    pattern: /\bAIza[\w-]{35}(?![\w-])/g,
    severity: 'high',
  },
  {
    ruleId: 'pypi-token',
    title: 'PyPI upload token',
    pattern: /\bpypi-AgEIcHlwaS5vcmc[\w-]{50,1000}/g,
    severity: 'high',
  },
  {
    ruleId: 'digitalocean-token',
    title: 'DigitalOcean token',
    pattern: /\bdo[opr]_v1_[a-f0-9]{64}\b/g,
    severity: 'high',
  },
  {
    ruleId: 'json-web-token',
    title: 'JSON web token',
    pattern: /\bey[\w-]{17,}\.ey[\w/-]{17,}\.[\w/-]{10,}/g,
    severity: 'medium',
  },
  {
    ruleId: 'google-oauth-secret',
    title: 'Google OAuth client secret',
    pattern: /\bGOCSPX-[\w-]{28}(?![\w-])/g,
    severity: 'high',
  },
  {
    // of every product that implements Standard Webhooks
    ruleId: 'webhook-secret',
    title: 'webhook signing secret',
    pattern: /\bwhsec_[A-Za-z0-9+/]{24,128}={0,2}(?![A-Za-z0-9+/])/g,
    severity: 'high',
  },
  {
    ruleId: 'cloud-analytics-key',
    title: 'Cloud Analytics API key',
    pattern: /\bca_live_[a-z0-9]{8}_[A-Za-z0-9]{38}\b/g,
    severity: 'high',
  },
]

/** Finds the secrets in one text. */
export type Scanner = (text: string) => Promise<RawFinding[]>

/** Loads the rules, which takes 40 ms and 30 MB; loaded on first use, not at the start of the server. */
export async function loadScanner(): Promise<Scanner> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ])
  const config: SecretLintCoreConfig = { rules: [{ id: PRESET, rule: creator, rules: RULE_OPTIONS }] }
  return async (text) => {
    // comments such as `secretlint-disable` in a text must not switch the preset off
    const content = text.replaceAll('secretlint-', 'secretlint_')
    const source = { filePath: 'text.txt', content, ext: '.txt', contentType: 'text' as const }
    const { messages } = await lintSource({
      source,
      options: { config, locale: 'en', noPhysicFilePath: true },
    })
    return [...messages.flatMap((message) => rawOf(message, text) ?? []), ...ownFindings(text)]
  }
}

function rawOf(message: SecretLintCoreResultMessage, text: string): RawFinding | null {
  if (NOT_SECRET.has(message.messageId)) return null
  const [from, to] = message.range
  const secret = secretIn(message) ?? text.slice(from, to)
  // the range of some rules starts before the secret (`aws_secret_access_key = `)
  const at = text.indexOf(secret, from)
  return {
    ruleId: message.ruleId.replace('@secretlint/secretlint-rule-', ''),
    title: titleOf(message),
    start: at === -1 ? from : at,
    secret,
    severity: MEDIUM.has(message.messageId) ? 'medium' : 'high',
  }
}

function secretIn(message: SecretLintCoreResultMessage): string | undefined {
  const values = Object.entries(message.data ?? {}).flatMap(([key, value]) =>
    typeof value === 'string' && key === key.toUpperCase() ? [value] : [],
  )
  return values.sort((a, b) => b.length - a.length)[0]
}

// `found GitHub Token(…): ghp_…`: the text before the colon, or the message id if that text is unusable
function titleOf(message: SecretLintCoreResultMessage): string {
  const secret = secretIn(message)
  const words = message.message.split(': ')[0]?.replace(/^found |\s*\(.*$/g, '') ?? ''
  return words === '' || words.length > 100 || (secret !== undefined && words.includes(secret))
    ? message.messageId
    : words
}

function* ownFindings(text: string): Generator<RawFinding> {
  for (const { ruleId, title, pattern, severity } of OWN_RULES) {
    for (const match of text.matchAll(pattern))
      yield { ruleId, title, start: match.index, secret: match[0], severity }
  }
}
