import { type FoundSecret, findSecretsInTexts } from './secrets.ts'

/** Names and times by which records are known: a secret's kind there would be another record's. */
const IDENTITIES = new Set([
  ...['type', 'id', 'sha', 'month', 'repo', 'project', 'project_name', 'created_at', 'fingerprint'],
  ...[
    'email',
    'user_email',
    'author_email',
    'user_id',
    'started_at',
    'ended_at',
    'joined_at',
    'committed_at',
  ],
])
const MAX_DEPTH = 40
/** Up to so many secrets are also looked for where no rule would know them: a password without its address. */
const MAX_SOUGHT = 50

/** The text with each secret replaced by its kind. */
export function maskSecrets(
  text: string,
  secrets: readonly Pick<FoundSecret, 'start' | 'end' | 'ruleId'>[],
): string {
  let masked = ''
  let at = 0
  for (const { start, end, ruleId } of [...secrets].sort((a, b) => a.start - b.start)) {
    if (start < at) continue
    masked += text.slice(at, start) + maskOf(ruleId)
    at = end
  }
  return masked + text.slice(at)
}

const maskOf = (ruleId: string): string => `[secret: ${ruleId}]`

/**
 * The value with every secret in its texts replaced by its kind, `[secret: github]`; the value itself when there is
 * none. Equal texts are scanned once, all in one go.
 */
export async function withoutSecrets<Value>(value: Value): Promise<Value> {
  const texts = new Set<string>()
  collect(value, texts, 0)
  const scanned = [...texts].map((text) => ({ text, place: text }))
  const found = await findSecretsInTexts(scanned, Number.POSITIVE_INFINITY)
  if (found.length === 0) return value
  const byText = Map.groupBy(found, ({ place }) => place)
  const kinds = new Map(
    found.map(({ place, secret }) => [place.slice(secret.start, secret.end), maskOf(secret.ruleId)]),
  )
  const sought = kinds.size <= MAX_SOUGHT ? [...kinds] : []
  const masks = new Map<string, string>()
  for (const text of texts) {
    const secrets = byText.get(text)?.map(({ secret }) => secret) ?? []
    const masked = sought.reduce(
      (rest, [secret, mask]) => rest.replaceAll(secret, () => mask),
      maskSecrets(text, secrets),
    )
    if (masked !== text) masks.set(text, masked)
  }
  return replaced(value, masks, 0) as Value
}

function collect(value: unknown, texts: Set<string>, depth: number): void {
  if (typeof value === 'string') texts.add(value)
  else if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  else if (Array.isArray(value)) for (const item of value) collect(item, texts, depth + 1)
  else
    for (const [name, item] of Object.entries(value))
      if (!IDENTITIES.has(name)) collect(item, texts, depth + 1)
}

function replaced(value: unknown, masks: ReadonlyMap<string, string>, depth: number): unknown {
  if (typeof value === 'string') return masks.get(value) ?? value
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((item) => replaced(item, masks, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      IDENTITIES.has(name) ? item : replaced(item, masks, depth + 1),
    ]),
  )
}
