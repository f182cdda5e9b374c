import type { FindingRecord, Severity } from '../records/finding.ts'
import { cut } from '../text.ts'
import { findEncoded } from './encoded-secrets.ts'
import { loadScanner, type RawFinding, type Scanner } from './secret-rules.ts'

/** Where a secret lies: its kind and place, never the secret. Lines and columns from 1. */
export interface FoundSecret {
  ruleId: string
  /** What was found, in words: `GitHub token`. */
  title: string
  line: number
  /** Offsets into the text, end exclusive. */
  start: number
  end: number
  severity: Severity
  /** First 16 hex digits of SHA-256 over rule and secret: the same secret is known again, and cannot be told from it. */
  fingerprint: string
}

/** A longer text is scanned in pieces: the rules' regular expressions run over one text of bounded size. */
const MAX_PIECE = 4 * 1024 * 1024
/** Pieces overlap by more than the longest secret (a private key of 4 KB). */
const OVERLAP = 8 * 1024
/** Findings that a record holds; the schema's limit. What a scan finds has none, or the rest would stay unmasked. */
const MAX_FINDINGS = 1_000
let scanner: Promise<Scanner> | undefined
const POINTS: Readonly<Record<Severity, number>> = { critical: 25, high: 15, medium: 8, low: 3 }

/** Kinds and places of the secrets in a text, by place. `title` names the kind; the secret itself stays here. */
export async function findSecrets(text: string): Promise<FoundSecret[]> {
  scanner ??= loadScanner()
  const scan = await scanner
  const found = new Map<string, FoundSecret>()
  for (let offset = 0; offset < text.length; offset += MAX_PIECE - OVERLAP) {
    const piece = text.length <= MAX_PIECE ? text : text.slice(offset, offset + MAX_PIECE)
    for (const raw of [...(await scan(piece)), ...(await findEncoded(piece, scan))]) {
      const start = offset + raw.start
      const key = `${raw.ruleId} ${start}`
      // of one that the end of a piece cut, the next piece has the whole
      if ((found.get(key)?.end ?? 0) < start + (raw.length ?? raw.secret.length))
        found.set(key, { ...located(raw, start), line: 0 })
    }
    if (offset + MAX_PIECE >= text.length) break
  }
  return withLines(text, withoutDoubles([...found.values()]))
}

function located(raw: RawFinding, start: number): Omit<FoundSecret, 'line'> {
  const { ruleId, title, secret, severity, length = secret.length } = raw
  return {
    ruleId,
    title,
    start,
    end: start + length,
    severity,
    fingerprint: fingerprintOf(ruleId, secret),
  }
}

// Not salted, so that one secret found on two machines is one. A token is too random to be guessed from its hash; a
// password in an address is not, so that there the rest of the address stands for it.
function fingerprintOf(ruleId: string, secret: string): string {
  const known = secret.replace(/(:\/\/[^:@/\s]*):[^@\s]*@/, '$1:@')
  return new Bun.CryptoHasher('sha256').update(`${ruleId}\n${known}`).digest('hex').slice(0, 16)
}

// A connection string is also found as basic auth: of two at one place the longer is kept.
function withoutDoubles(found: readonly FoundSecret[]): FoundSecret[] {
  const sorted = [...found].sort((a, b) => a.start - b.start || b.end - a.end)
  const kept: FoundSecret[] = []
  for (const secret of sorted) {
    const previous = kept.at(-1)
    if (previous === undefined || secret.start >= previous.end) kept.push(secret)
  }
  return kept
}

function withLines(text: string, found: readonly FoundSecret[]): FoundSecret[] {
  let line = 1
  let at = 0
  return found.map((secret) => {
    for (
      let next = text.indexOf('\n', at);
      next !== -1 && next < secret.start;
      next = text.indexOf('\n', at)
    ) {
      line += 1
      at = next + 1
    }
    return { ...secret, line }
  })
}

/** 100 less 25, 15, 8 or 3 points per distinct fingerprint by severity (its gravest), not below 0. */
export function securityScore(
  findings: readonly { fingerprint?: string | null | undefined; severity: Severity }[],
): number {
  const gravest = new Map<string, number>()
  for (const [index, { fingerprint, severity }] of findings.entries()) {
    const key = fingerprint ?? `#${index}`
    gravest.set(key, Math.max(gravest.get(key) ?? 0, POINTS[severity]))
  }
  return Math.max(0, 100 - [...gravest.values()].reduce((sum, points) => sum + points, 0))
}

/** A text to scan with what is known of its place. */
export interface ScannedText<Place> {
  text: string
  place: Place
}

/**
 * Secrets of many texts at once: a call costs 0.16 ms before it reads a character, so short texts are joined by a line
 * that no rule's pattern crosses. `line` counts within the text.
 */
export async function findSecretsInTexts<Place>(
  texts: readonly ScannedText<Place>[],
): Promise<{ place: Place; secret: FoundSecret }[]> {
  const starts: number[] = []
  let length = 0
  for (const { text } of texts) {
    starts.push(length)
    length += text.length + SEPARATOR.length
  }
  const joined = texts.map(({ text }) => text).join(SEPARATOR)
  const results: { place: Place; secret: FoundSecret }[] = []
  let index = 0
  let firstLine = 1
  let counted = 0
  for (const secret of await findSecrets(joined)) {
    while ((starts[index + 1] ?? Number.POSITIVE_INFINITY) <= secret.start) index += 1
    const start = starts[index] ?? 0
    for (; counted < start; counted += 1) if (joined.charCodeAt(counted) === 10) firstLine += 1
    const scanned = texts[index]
    if (scanned === undefined) continue
    const local = { start: secret.start - start, end: secret.end - start, line: secret.line - firstLine + 1 }
    results.push({ place: scanned.place, secret: { ...secret, ...local } })
  }
  return results
}
const SEPARATOR = '\n\u0000\u0000\n'

/** The finding of a secret, as records carry it; `file` may be null, ids are left to the writer. */
export function secretFinding(
  secret: FoundSecret,
  {
    file,
    turnNumber,
    severity,
    where,
  }: { file: string | null; turnNumber: number | null; severity?: Severity; where: string },
): FindingRecord {
  return {
    rule_id: secret.ruleId,
    category: 'secret',
    severity: severity ?? secret.severity,
    title: cut(`${secret.title} in ${where}`, 500),
    description: `A ${secret.title} stands in ${where}. Its text is neither stored nor sent; replace it where it is in use.`,
    file,
    line: secret.line,
    turn_number: turnNumber,
    fingerprint: secret.fingerprint,
  }
}

/** Chooses the findings that a record holds. */
export interface FindingSelection<Found> {
  add(found: Found): void
  /** At most 1,000 in their order, the first of each fingerprint before repetitions; `beyond` counts the others. */
  selected(): { findings: Found[]; omitted: number }
}

/** Remembers no more than it may choose: the score is exact, since a few dozen distinct secrets bring it to 0. */
export function newFindingSelection<Found extends { fingerprint: string }>(): FindingSelection<Found> {
  const known = new Set<string>()
  const firsts: { at: number; found: Found }[] = []
  const repeats: { at: number; found: Found }[] = []
  let count = 0
  return {
    add(found) {
      count += 1
      if (firsts.length === MAX_FINDINGS) return
      if (known.has(found.fingerprint)) {
        if (repeats.length < MAX_FINDINGS) repeats.push({ at: count, found })
        return
      }
      known.add(found.fingerprint)
      firsts.push({ at: count, found })
    },
    selected() {
      const selected = [...firsts, ...repeats].slice(0, MAX_FINDINGS).sort((a, b) => a.at - b.at)
      return { findings: selected.map(({ found }) => found), omitted: count - selected.length }
    },
  }
}

/** The findings with what is not among them told in the last one's description. */
export function withOmittedCount(findings: readonly FindingRecord[], omitted: number): FindingRecord[] {
  if (omitted === 0) return [...findings]
  return findings.map((finding, index) =>
    index < findings.length - 1
      ? finding
      : { ...finding, description: `${finding.description} ${omitted} more were found and are not listed.` },
  )
}

/** The text with each secret replaced by what `label` says of it. */
export function maskSecrets(
  text: string,
  secrets: readonly FoundSecret[],
  label: (secret: FoundSecret) => string,
): string {
  let masked = ''
  let at = 0
  for (const secret of [...secrets].sort((a, b) => a.start - b.start)) {
    if (secret.start < at) continue
    masked += text.slice(at, secret.start) + label(secret)
    at = secret.end
  }
  return masked + text.slice(at)
}
