// Reads the badge options of `org update`, and checks badge colors for it and for PATCH /organization.

import { OperatorError } from '../../base/errors.ts'
import { MAX_LABEL_LENGTH } from './model.ts'
import { cleanLabel } from './render.ts'

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

/** The options of `org update` that are about badges, as the command line has them. */
export interface BadgeOptions {
  /** public or private */
  badges?: string
  /** new or none */
  badgeToken?: string
  badgeThresholds?: string
  badgeColors?: string
  badgeLabelQuality?: string
  badgeLabelSecurity?: string
  badgeLabelCost?: string
}

const refuse = (message: string) => new OperatorError(message, 2)

/** Empty: the default label. */
function readLabel(text: string): string {
  const label = cleanLabel(text)
  if (label !== text.trim())
    throw refuse(`a badge's label must be one line of at most ${MAX_LABEL_LENGTH} characters`)
  return label
}

function readThresholds(text: string) {
  if (text.trim() === '') return null
  const [good = Number.NaN, medium = Number.NaN, ...more] = text.split(',').map((part) => {
    return /^\d{1,3}(\.\d{1,2})?$/.test(part.trim()) ? Number(part) : Number.NaN
  })
  if (more.length > 0 || !(good <= 100 && medium < good))
    throw refuse('badge thresholds must be two numbers up to 100, the greater first, as 80,50')
  return { good, medium }
}

export const isBadgeColor = (color: string): boolean => COLOR_NAMES.includes(color) || HEX_COLOR.test(color)

function readColors(text: string) {
  if (text.trim() === '') return null
  const [good = '', medium = '', bad = '', ...more] = text.split(',').map((part) => part.trim().toLowerCase())
  if (![good, medium, bad].every(isBadgeColor) || more.length > 0) {
    throw refuse(
      `badge colors must be three, for good, fair and poor values, each hexadecimal or one of ${COLOR_NAMES.join(', ')}`,
    )
  }
  return { good, medium, bad }
}

/** The change that the options describe; undefined without one. An empty text resets. Throws OperatorError for an invalid one. */
export function badgeChange(options: BadgeOptions) {
  const { badges, badgeToken, badgeThresholds, badgeColors } = options
  const { badgeLabelQuality: quality, badgeLabelSecurity: security, badgeLabelCost: cost } = options
  const labels = Object.entries({ quality, security, cost }).flatMap(([kind, text]) =>
    text === undefined ? [] : [[kind, readLabel(text)] as const],
  )
  const change = {
    ...(badges !== undefined && { visibility: badges as 'public' | 'private' }),
    ...(badgeToken === 'none' && { token: null }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    ...(badgeThresholds !== undefined && { thresholds: readThresholds(badgeThresholds) }),
    ...(badgeColors !== undefined && { colors: readColors(badgeColors) }),
  }
  return Object.keys(change).length === 0 ? undefined : change
}
