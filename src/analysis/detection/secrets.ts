// Finds and masks secrets in texts, makes findings of them, and computes the security score.

import { cut } from '../../base/text.ts'
import { type FindingRecord, MAX_FINDINGS, SEVERITY_POINTS, type Severity } from '../records/finding.ts'
import { isOfNoKind } from './assigned-secrets.ts'
import { findEncoded } from './encoded-secrets.ts'
import { fingerprintOf } from './fingerprint.ts'
import { type LongWord, longWordsIn } from './long-words.ts'
import { loadScanner, type Scanner, TEXT_SEPARATOR } from './secret-rules.ts'

/** The kind and position of a secret, without its text. Lines from 1. */
export interface FoundSecret {
  ruleId: string
  /** Its kind in words: `GitHub token`. */
  title: string
  line: number
  /** Offsets into the text, end exclusive. */
  start: number
  end: number
  severity: Severity
  /** A hash of rule and secret: see `secretFingerprint`. */
  fingerprint: string
}

let scanner: Promise<Scanner> | undefined

/** Finds the secrets in a text, in order of position and without overlaps. */
export const findSecrets = async (text: string): Promise<FoundSecret[]> =>
  withLines(text, await positionsIn(text))

type Position = Omit<FoundSecret, 'line'>

async function positionsIn(text: string): Promise<Position[]> {
  scanner ??= loadScanner().then(inPieces)
  const scan = await scanner
  const positions = new Map<string, Position>()
  // one secret may occur thousands of times in a text
  const fingerprints = new Map<string, string>()
  const words = longWordsIn(text)
  for (const raw of [...(await scan(text, words)), ...(await findEncoded(text, words, scan))]) {
    const { ruleId, title, secret, start, severity } = raw
    const key = `${ruleId} ${start}`
    const end = start + (raw.length ?? secret.length)
    // a secret that the end of a piece cuts is longer in the next piece
    if ((positions.get(key)?.end ?? 0) >= end) continue
    const hash = () => secretFingerprint(ruleId, secret)
    const fingerprint = fingerprints.getOrInsertComputed(`${ruleId} ${secret}`, hash)
    positions.set(key, { ruleId, title, start, end, severity, fingerprint })
  }
  return withoutOverlaps([...positions.values()])
}

// Without salt, so that a secret has the same fingerprint on every machine. A token cannot be guessed from
// its hash. A password in a URL might be, so it is left out and the rest of the URL is hashed.
function secretFingerprint(ruleId: string, secret: string): string {
  return fingerprintOf(ruleId, secret.replace(/(:\/\/[^:@/\s]*):[^@\s]*@/, '$1:@'))
}

// Two rules may match at one position, such as connection string and basic auth: keeps the longer match. A rule that goes
// by the name of a variable gives way to those that know what its value is.
function withoutOverlaps(positions: readonly Position[]): Position[] {
  const isKnown = ({ ruleId }: Position) => !isOfNoKind(ruleId)
  const safe = withoutOverlapping(positions.filter(isKnown))
  const others = withoutOverlapping(positions.filter((secret) => !isKnown(secret)))
  let index = 0
  const apart = others.filter(({ start, end }) => {
    while ((safe[index]?.end ?? Number.POSITIVE_INFINITY) <= start) index += 1
    return end <= (safe[index]?.start ?? Number.POSITIVE_INFINITY)
  })
  return [...safe, ...apart].sort((a, b) => a.start - b.start)
}

function withoutOverlapping(positions: readonly Position[]): Position[] {
  const sorted = [...positions].sort((a, b) => a.start - b.start || b.end - a.end)
  const separate: Position[] = []
  for (const secret of sorted) {
    const previous = separate.at(-1)
    if (previous === undefined || secret.start >= previous.end) separate.push(secret)
  }
  return separate
}

function withLines(text: string, positions: readonly Position[]): FoundSecret[] {
  let line = 1
  // kept between secrets: to look for the end of a long line again for each of its secrets takes quadratic time
  let lineEnd = text.indexOf('\n')
  return positions.map((secret) => {
    while (lineEnd !== -1 && lineEnd < secret.start) {
      line += 1
      lineEnd = text.indexOf('\n', lineEnd + 1)
    }
    return { ...secret, line }
  })
}

/** 100 less 25, 15, 8 or 3 points (critical to low) for each fingerprint at its highest severity, at least 0. */
export function securityScore(
  findings: readonly { fingerprint?: string | null | undefined; severity: Severity }[],
): number {
  const points = new Map<string, number>()
  for (const [index, { fingerprint, severity }] of findings.entries()) {
    const key = fingerprint ?? `#${index}`
    points.set(key, Math.max(points.get(key) ?? 0, SEVERITY_POINTS[severity]))
  }
  return Math.max(0, 100 - [...points.values()].reduce((sum, most) => sum + most, 0))
}

/** A text to scan, with the caller's description of its origin. */
export interface ScannedText<Place> {
  text: string
  place: Place
}

/** Finds the secrets of many texts in one scan, which takes 0.16 ms itself; places are relative to the text. */
export async function findSecretsInTexts<Scanned extends { text: string }>(
  texts: readonly Scanned[],
): Promise<Map<Scanned, FoundSecret[]>> {
  const starts: number[] = []
  let length = 0
  for (const { text } of texts) {
    starts.push(length)
    length += text.length + TEXT_SEPARATOR.length
  }
  const joined = texts.map(({ text }) => text).join(TEXT_SEPARATOR)
  const positions = new Map<Scanned, Position[]>()
  let index = 0
  for (const secret of await positionsIn(joined)) {
    while ((starts[index + 1] ?? Number.POSITIVE_INFINITY) <= secret.start) index += 1
    const start = starts[index] ?? 0
    const scanned = texts[index]
    if (scanned === undefined) continue
    positions
      .getOrInsertComputed(scanned, () => [])
      .push({ ...secret, start: secret.start - start, end: secret.end - start })
  }
  return new Map([...positions].map(([scanned, inText]) => [scanned, withLines(scanned.text, inText)]))
}

/** The place of a secret in a record. */
export interface SecretPlace {
  /** In words, such as `a prompt`. */
  where: string
  file: string | null
  turnNumber: number | null
}

/** The finding of a secret for a record. The writer adds the id. */
export function secretFinding(
  secret: Omit<FoundSecret, 'start' | 'end'>,
  { where, file, turnNumber }: SecretPlace,
): FindingRecord {
  return {
    rule_id: secret.ruleId,
    category: 'secret',
    severity: secret.severity,
    title: cut(`${secret.title} in ${where}`, 500),
    description: 'Its text is neither stored nor sent; replace it where it is in use.',
    file,
    line: secret.line,
    turn_number: turnNumber,
    fingerprint: secret.fingerprint,
  }
}

/**
 * Selects at most 1,000 findings of a record in the order added, repeated fingerprints left out first; `omitted` counts all
 * others. The limit bounds memory; a scan has none, since all secrets must be masked. The score stays exact: it is 0 from 34
 * distinct findings of any severity on.
 */
export function newFindingSelection<Found extends { fingerprint: string }>() {
  const fingerprints = new Set<string>()
  const firsts: { at: number; found: Found }[] = []
  const repeats: typeof firsts = []
  let count = 0
  return {
    add(finding: Found) {
      count += 1
      const list = fingerprints.has(finding.fingerprint) ? repeats : firsts
      if (list.length === MAX_FINDINGS) return
      fingerprints.add(finding.fingerprint)
      list.push({ at: count, found: finding })
    },
    selected() {
      const selected = [...firsts, ...repeats].slice(0, MAX_FINDINGS).sort((a, b) => a.at - b.at)
      return { findings: selected.map(({ found }) => found), omitted: count - selected.length }
    },
  }
}

/** The findings with the number of omitted ones added to the description of the last. */
export function withOmittedCount(findings: readonly FindingRecord[], omitted: number): FindingRecord[] {
  if (omitted === 0) return [...findings]
  return findings.map((finding, index) =>
    index < findings.length - 1
      ? finding
      : { ...finding, description: `${finding.description} ${omitted} more were found and are not listed.` },
  )
}

export function maskSecrets(
  text: string,
  secrets: readonly FoundSecret[],
  label: (secret: FoundSecret) => string,
): string {
  // joined at the end: a text put together by `+` keeps an object for each of its parts
  const parts: string[] = []
  let at = 0
  for (const secret of [...secrets].sort((a, b) => a.start - b.start)) {
    if (secret.start < at) continue
    parts.push(text.slice(at, secret.start), label(secret))
    at = secret.end
  }
  parts.push(text.slice(at))
  return parts.join('')
}

/** Characters of a piece, which ends where the line ends that has the last of them. */
const PIECE = 512 * 1024
/** Characters that a piece shares with the one before. */
const OVERLAP = 48 * 1024
/**
 * The first of the shared characters: what starts there is taken from the piece before, since a rule may see only a
 * part of it here. The other 32 KiB are more than the longest secret of several lines, a private key of 23 KB.
 */
const LEAD = 16 * 1024

/**
 * A scanner that scans long texts in pieces, which bounds the memory of what it searches. No line is cut, so that a secret of any
 * length on one line is in one piece. What starts in the characters that two pieces share may be found twice: the longer
 * finding is the whole one.
 */
function inPieces(scan: Scanner): Scanner {
  return async (text, words) => {
    if (text.length <= PIECE) return scan(text, words)
    const positions = []
    let first = 0
    for (const { start, end } of piecesOf(text)) {
      while (first < words.length && (words[first]?.end ?? 0) <= start) first += 1
      const inPiece: LongWord[] = []
      for (let at = first; at < words.length; at += 1) {
        const word = words[at]
        if (word === undefined || word.start >= end) break
        inPiece.push({ start: Math.max(0, word.start - start), end: Math.min(end, word.end) - start })
      }
      for (const raw of await scan(text.slice(start, end), inPiece)) {
        if (start === 0 || raw.start >= LEAD) positions.push({ ...raw, start: start + raw.start })
      }
    }
    return positions
  }
}

function* piecesOf(text: string): Generator<{ start: number; end: number }> {
  let start = 0
  for (;;) {
    const lineEnd = text.indexOf('\n', start + PIECE)
    const end = lineEnd === -1 ? text.length : lineEnd + 1
    yield { start, end }
    if (end === text.length) return
    start = end - OVERLAP
  }
}
