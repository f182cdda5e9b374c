import { OperatorError } from '../../base/errors.ts'
import { BASE62, randomText } from '../../base/ids.ts'
import { BADGE_KINDS, type BadgeLook, MAX_LABEL_LENGTH } from './model.ts'
import { cleanLabel } from './render.ts'

// The badge options of `org update`.

const TOKEN_PREFIX = 'badge_'
const TOKEN_LENGTH = 32
const MAX_TOKEN_LENGTH = 128
/** The names of badge-maker's colors. */
const COLOR_NAMES = [
  'brightgreen',
  'green',
  'yellowgreen',
  'yellow',
  'orange',
  'red',
  'blue',
  'grey',
  'lightgrey',
]
const HEX_COLOR = /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i

export interface BadgeChange {
  public?: boolean | undefined
  /** null removes the token. */
  tokenHash?: Uint8Array | null
  /** Returns the new appearance for the stored one. */
  look: (known: BadgeLook) => BadgeLook
}

/** The options of `org update` that are about badges, as the command line has them. */
type BadgeOptions = Record<string, string | undefined>

const refuse = (message: string) => new OperatorError(message, 2)

/** SHA-256 of a badge token, which is stored instead of the token; null for a text that cannot be a token. */
export function hashToken(token: string): Uint8Array | null {
  if (token === '' || token.length > MAX_TOKEN_LENGTH) return null
  return sha256(token)
}

/** A new badge token and its SHA-256. */
export function makeBadgeToken(): { token: string; hash: Uint8Array } {
  const token = `${TOKEN_PREFIX}${randomText(BASE62, TOKEN_LENGTH)}`
  return { token, hash: sha256(token) }
}

const sha256 = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()

function readVisibility(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text === 'public' || text === 'private') return text === 'public'
  throw refuse('badges must be public or private')
}

/** undefined: the default label. */
function readLabel(text: string): string | undefined {
  const label = cleanLabel(text)
  if (label !== text.trim())
    throw refuse(`a badge's label must be one line of at most ${MAX_LABEL_LENGTH} characters`)
  return label === '' ? undefined : label
}

function readThresholds(text: string): BadgeLook['thresholds'] {
  if (text.trim() === '') return undefined
  const [good = Number.NaN, fair = Number.NaN, ...more] = text.split(',').map((part) => {
    return /^\d{1,3}(\.\d{1,2})?$/.test(part.trim()) ? Number(part) : Number.NaN
  })
  if (more.length > 0 || !(good <= 100 && fair < good)) {
    throw refuse('badge thresholds must be two numbers up to 100, the greater first, as 80,50')
  }
  return [good, fair]
}

/** Whether badge-maker draws it: one of its names, or hexadecimal. */
export const isBadgeColor = (color: string): boolean => COLOR_NAMES.includes(color) || HEX_COLOR.test(color)

function readColors(text: string): BadgeLook['colors'] {
  if (text.trim() === '') return undefined
  const [good, fair, poor, ...more] = text.split(',').map((part) => part.trim().toLowerCase())
  const known = [good, fair, poor].every((color) => color !== undefined && isBadgeColor(color))
  if (!known || more.length > 0 || good === undefined || fair === undefined || poor === undefined) {
    throw refuse(
      `badge colors must be three, for good, fair and poor values, each hexadecimal or one of ${COLOR_NAMES.join(', ')}`,
    )
  }
  return [good, fair, poor]
}

/**
 * The change that the options describe; undefined without badge options. `token`: a new token in plain text, to be shown
 * once. An empty text resets a label, the thresholds or the colors to the default. Throws OperatorError for an invalid
 * option.
 */
export function badgeChange(options: BadgeOptions): { change: BadgeChange; token?: string } | undefined {
  const { badges, badgeToken, badgeThresholds, badgeColors } = options
  const labels = BADGE_KINDS.flatMap((kind) => {
    const text = options[`badgeLabel${kind[0]?.toUpperCase()}${kind.slice(1)}`]
    return text === undefined ? [] : [[kind, readLabel(text)] as const]
  })
  const thresholds =
    badgeThresholds === undefined ? undefined : { thresholds: readThresholds(badgeThresholds) }
  const colors = badgeColors === undefined ? undefined : { colors: readColors(badgeColors) }
  const hasOptions = [badges, badgeToken, badgeThresholds, badgeColors].some((option) => option !== undefined)
  if (!hasOptions && labels.length === 0) return undefined
  const look = (known: BadgeLook): BadgeLook => {
    const merged = {
      ...known,
      ...thresholds,
      ...colors,
      labels: { ...known.labels, ...Object.fromEntries(labels) },
    }
    // JSON drops undefined fields: those reset to the default
    return JSON.parse(JSON.stringify(merged))
  }
  const change: BadgeChange = { public: readVisibility(badges), look }
  if (badgeToken === undefined) return { change }
  if (badgeToken === 'none') return { change: { ...change, tokenHash: null } }
  if (badgeToken !== 'new') throw refuse('badge-token must be new or none')
  const { token, hash } = makeBadgeToken()
  return { change: { ...change, tokenHash: hash }, token }
}
