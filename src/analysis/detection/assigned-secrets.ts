// Rules for secrets that have no form of their own: values of variables with the name of a secret, bearer tokens, passwords in
// addresses. Most such values in code and transcripts are names, paths and examples, so a value must look random.

import { looksRandom } from './random-text.ts'
import type { OwnRule } from './service-rules.ts'

/** Characters of a name that are looked at. */
const NAME_LENGTH = 80
const NAME_BEFORE = /[A-Za-z][\w.-]*$/
/** The last words of the names of secrets, as `.env` files write them. */
const ENV_NAME =
  /^(?:[A-Z][A-Z0-9]*_)*(?:[A-Z0-9]*(?:KEY|TOKEN|SECRET)|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|PAT)(?:_BASE)?$/
/** Programs and other settings have names like these. */
const NAME_IN_CODE =
  /(?:api|secret|access|private|signing|encryption|master|account|license)[_-]?key$|(?:auth|access|refresh|api|bot|deploy)[_-]?token$|(?:client|app|api|shared)[_-]?secret$|(?:^|[_.-])(?:token|secret|passw(?:or)?d|passphrase)$|[a-z](?:Token|Secret|Password)$/i
/** These names match the patterns above and are no secrets. */
const NO_SECRET =
  /PUBLIC|PUBLISHABLE|(?:^|_)(?:ANON|SITE|CACHE|PRIMARY|FOREIGN|SORT|PARTITION|PUBKEY|OBJECT|HASH|IDEMPOTENCY)_|^(?:KEY|PASS|PAT)$/i
/** Services whose keys are UUIDs or letters and digits without a form. */
const SERVICE =
  /heroku|snyk|twilio|netlify|mail(?:chimp|gun)|vercel|hubspot|sentry|discord|new.?relic|spaces|azure|cloudflare|datadog|supabase|square|postman/i
const SERVICE_WORD = /key|token|secret|auth|password|pat\b/i

const ASSIGNED =
  /(key|ken|ret|ord|ass|pwd|swd|ase|als|pat|uth)(?:_?\d)?\\?["'`\]]{0,2}(?:(?:,?\s{1,40}["']?value["']?)?[ \t]{0,40}[=:>][>=]?[ \t]{0,2}\\?["'`]?|,[ \t]?["'`])(?![^\d\s"'`]{8,199}[\s"'`])([\w!#%&*+,./=?@^~|-]{8,200})(?![\w!#%&*+./=?@^~|([{$-]|<[^/])/gi

export const ASSIGNED_RULES: readonly OwnRule[] = [
  {
    ruleId: 'assigned-secret',
    title: 'value of a secret variable',
    // the pattern starts at the end of a name such as API_KEY: what is before it is looked at only where a value
    // follows; between them is a sign, the comma between arguments, or `value` as a name of its own (Kubernetes,
    // NuGet)
    pattern: ASSIGNED,
    severity: 'high',
    secretIn: assignedSecret,
  },
  {
    ruleId: 'bearer-token',
    title: 'bearer token',
    word: /(?:arer|oken) [\w.~+/-]{16}/,
    pattern: /(?:[Bb]earer|[Aa]uthorization: [Tt]oken) ([\w.~+/-]{20,1000}={0,2})(?![\w.~+/-])/g,
    severity: 'high',
    secretIn: ({ 0: match, 1: secret = '' }) =>
      looksRandom(secret, 20) ? { at: match.length - secret.length, secret } : null,
  },
  {
    ruleId: 'redis-url',
    title: 'Redis address with a password',
    needed: ['dis://', 'diss://'],
    pattern: /rediss?:\/\/[^\s:@/"'`<>{}$]{0,100}:([^\s:@/"'`<>{}$]{6,200})@[\w.[\]:-]{1,253}/g,
    severity: 'high',
    secretIn: ({ 0: secret, 1: password = '' }) => (looksRandom(password, 6) ? { at: 0, secret } : null),
  },
]

function assignedSecret({ 0: match, 1: end = '', 2: value = '', index, input }: RegExpExecArray) {
  if (!/\d/.test(value)) return null
  const name = NAME_BEFORE.exec(input.slice(Math.max(0, index - NAME_LENGTH), index + end.length))?.[0] ?? ''
  const secret = value.replace(/[,.]+$/, '')
  return isSecretOf(name, secret) ? { at: match.length - value.length, secret } : null
}

function isSecretOf(name: string, value: string): boolean {
  if (SERVICE.test(name) && SERVICE_WORD.test(name))
    return /^[\w=+/~.-]+$/.test(value) && looksRandom(value, 20)
  if (NO_SECRET.test(name)) return false
  // names of types and functions have one digit: Uint8Array
  const isLikeName = value.length < 24 && !/\d.*\d/.test(value)
  if (!ENV_NAME.test(name) && (isLikeName || !NAME_IN_CODE.test(name))) return false
  // a password may have any characters and be short; a path or an address has none
  return looksRandom(value, /PASS|PWD/i.test(name) ? 8 : 16) && !/^[./~]|:\/\/|\/.*\//.test(value)
}

/** Whether the rule finds secrets by what is around them, of whatever kind they are. */
export const isOfNoKind = (ruleId: string): boolean =>
  ruleId === 'assigned-secret' || ruleId === 'bearer-token'
