import { type Static, Type } from '@sinclair/typebox'
import { component, Text } from '../../analysis/records/fields.ts'
import { choiceOf, oneOf } from '../../http/query.ts'
import { Project } from '../usage/model.ts'

export const BADGE_KINDS = ['quality', 'security', 'cost'] as const
export type BadgeKind = (typeof BADGE_KINDS)[number]

/** The styles that badge-maker draws. */
const BADGE_STYLES = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'] as const

/** Longer labels are cut. */
export const MAX_LABEL_LENGTH = 40
export const DEFAULT_DAYS = 30
/** Seconds for which clients and proxies may cache a badge. */
export const CACHE_S = 300

export const BadgeQuery = Type.Object({
  style: choiceOf(BADGE_STYLES, 'Shape of the badge; flat unless given'),
  label: Type.Optional(
    Text(
      `Text on the left instead of the organization's; cut after ${MAX_LABEL_LENGTH} characters`,
      'code quality',
    ),
  ),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      default: DEFAULT_DAYS,
      description: 'Days that count, today included',
      examples: [DEFAULT_DAYS],
    }),
  ),
  project: Project,
  token: Type.Optional(Text("The organization's badge token, where its badges are private")),
})
export type BadgeQuery = Static<typeof BadgeQuery>

/** An organization's settings for the appearance of its badges; value.ts has the defaults. */
export interface BadgeLook {
  labels?: Partial<Record<BadgeKind, string>>
  /** The minimum of a good value, and that of a fair value. */
  thresholds?: [good: number, fair: number]
  /** Colors of good, fair and poor values: names of badge-maker's colors, or hexadecimal. */
  colors?: [good: string, fair: string, poor: string]
}

/** The schema that shields.io's endpoint badge reads. */
export const ShieldsBadge = component('ShieldsBadge', {
  schemaVersion: Type.Literal(1),
  label: Type.String({ examples: ['quality'] }),
  message: Type.String({ examples: ['85'] }),
  color: Type.String({ examples: ['brightgreen'] }),
  style: Type.Optional(oneOf(BADGE_STYLES)),
  cacheSeconds: Type.Integer({ examples: [CACHE_S] }),
})
export type ShieldsBadge = Static<typeof ShieldsBadge>

/** The content of a badge, without the label and style of the request. */
export type Badge = Pick<ShieldsBadge, 'label' | 'message' | 'color'>
