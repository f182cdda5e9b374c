import type { OwnRule } from './service-rules.ts'

// Secrets that have no form of their own: values of variables with the name of a secret, bearer tokens, passwords in
// addresses. Most such values in code and transcripts are names, paths and examples, so a value must look random.

/** Words of examples: a value with one is none that anybody uses. */
const PLACEHOLDER =
  /your|x{4}|example|placeholder|change.?me|dummy|fake|sample|redacted|masked|replace|insert|todo|secret|password|passwd|token|mock|foobar|array|default|invalid|local|demo|test|abcdef|012345|123456|987654|qwerty|lorem|\.{3}|\*{3}|(.)\1{4}/i

/** A UUID is no word, hexadecimal digits are few. */
const HEX = /^[0-9a-f-]+$/i

/**
 * Whether a value looks random: letters and digits, no word of an example, and enough bits per character. Random text of
 * n characters from a large alphabet has nearly log2(n) bits, 4 at most where they are hexadecimal digits.
 */
export function looksRandom(value: string, minLength: number): boolean {
  if (value.length < minLength || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false
  if (PLACEHOLDER.test(value)) return false
  const bits = entropyOf(value)
  if (HEX.test(value)) return bits >= 3
  return bits >= Math.min(3.5, Math.log2(value.length) - 0.5)
}

/** Shannon's entropy of the characters, in bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** Characters of a name that are looked at. */
const NAME_LENGTH = 80
const NAME_BEFORE = /[A-Za-z][\w.-]*$/
/** The last words of the names of secrets, as `.env` files write them. */
const ENV_NAME =
  /^(?:[A-Z][A-Z0-9]*_)*(?:[A-Z0-9]*(?:KEY|TOKEN|SECRET)|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|PAT)(?:_BASE)?$/
/** And those that programs and other settings have. */
const NAME_IN_CODE =
  /(?:api|secret|access|private|signing|encryption|master|account|license)[_-]?key$|(?:auth|access|refresh|api|bot|deploy)[_-]?token$|(?:client|app|api|shared)[_-]?secret$|(?:^|[_.-])(?:token|secret|passw(?:or)?d|passphrase)$|[a-z](?:Token|Secret|Password)$/i
/** Of these, those that are no secrets. */
const NO_SECRET =
  /PUBLIC|PUBLISHABLE|(?:^|_)(?:ANON|SITE|CACHE|PRIMARY|FOREIGN|SORT|PARTITION|PUBKEY|OBJECT|HASH|IDEMPOTENCY)_|^(?:KEY|PASS|PAT)$/i
/** Services whose keys are UUIDs or letters and digits without a form. */
const SERVICE =
  /heroku|snyk|twilio|netlify|mail(?:chimp|gun)|vercel|hubspot|sentry|discord|new.?relic|spaces|azure|cloudflare|datadog|supabase|square|postman/i
const SERVICE_WORD = /key|token|secret|auth|password|pat\b/i

export const ASSIGNED_RULES: readonly OwnRule[] = [
  {
    ruleId: 'assigned-secret',
    title: 'value of a secret variable',
    // from the end of a name such as API_KEY on: what is before it is looked at only where a value follows
    pattern:
      /(key|ken|ret|ord|ass|pwd|swd|ase|als|pat|uth)(?:_?\d)?\\?["'`\]]{0,2}[ \t]{0,2}[=:][>=]?[ \t]{0,2}\\?["'`]?([\w!#%&*+,./=?@^~|-]{8,200})(?![\w!#%&*+./=?@^~|([{$<-])/gi,
    severity: 'high',
    secretIn: assignedSecret,
  },
  {
    ruleId: 'bearer-token',
    title: 'bearer token',
    needed: /earer [\w.~+/-]{16}/,
    pattern: /[Bb]earer ([\w.~+/-]{20,1000}={0,2})(?![\w.~+/-])/g,
    severity: 'high',
    secretIn: ({ 0: match, 1: secret = '' }) =>
      looksRandom(secret, 20) ? { at: match.length - secret.length, secret } : null,
  },
  {
    ruleId: 'redis-url',
    title: 'Redis address with a password',
    needed: /diss?:\/\//,
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
