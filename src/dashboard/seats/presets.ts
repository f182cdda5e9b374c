import type { Plan } from '../../features/seats/model.ts'

// List prices of plans in US dollars a month, as their sources had them on a day. They fill the form only: what an organization
// pays itself comes first.

interface Preset extends Pick<Plan, 'vendor' | 'plan'> {
  name: string
  price: number
  /** Credits of a seat and month. */
  credits?: number
  source: string
  day: string
}

const CLAUDE = {
  vendor: 'anthropic',
  source: 'https://support.claude.com/en/articles/11049744',
  day: '2026-11-30',
} as const
const CLAUDE_PRO = {
  vendor: 'anthropic',
  source: 'https://support.claude.com/en/articles/8325610',
  day: '2026-09-03',
} as const
const TEAM = { ...CLAUDE, source: 'https://support.claude.com/en/articles/9267289' } as const
const CURSOR = {
  vendor: 'cursor',
  source: 'https://cursor.com/docs/account/teams/pricing',
  day: '2026-06-26',
} as const

const BUSINESS = {
  vendor: 'openai',
  source: 'https://help.openai.com/en/articles/8792536-managing-billing-and-seats-in-chatgpt-business',
  day: '2026-04-02',
} as const
const PLUS = {
  vendor: 'openai',
  source: 'https://help.openai.com/en/articles/6950777-what-is-chatgpt-plus',
  day: '2026-02-13',
} as const
const PRO = {
  vendor: 'openai',
  source: 'https://help.openai.com/en/articles/9793128-about-chatgpt-pro-tiers',
  day: '2026-10-07',
} as const

export const PRESETS: readonly Preset[] = [
  { ...CLAUDE_PRO, plan: 'pro', name: 'Claude Pro', price: 20 },
  { ...CLAUDE, plan: 'max_5x', name: 'Claude Max 5x', price: 100 },
  { ...CLAUDE, plan: 'max_20x', name: 'Claude Max 20x', price: 200 },
  { ...TEAM, plan: 'team_standard', name: 'Claude Team, standard', price: 30 },
  { ...TEAM, plan: 'team_premium', name: 'Claude Team, premium', price: 150 },
  {
    ...{ vendor: 'github', plan: 'copilot_business', name: 'Copilot Business', price: 19, credits: 1900 },
    ...{ source: 'https://docs.github.com/copilot/get-started/plans', day: '2026-11-30' },
  },
  { ...PLUS, plan: 'plus', name: 'ChatGPT Plus', price: 20 },
  { ...PRO, plan: 'pro_100', name: 'ChatGPT Pro 100', price: 100 },
  { ...PRO, plan: 'pro_200', name: 'ChatGPT Pro 200', price: 200 },
  { ...PRO, plan: 'pro_500', name: 'ChatGPT Pro 500', price: 500 },
  { ...BUSINESS, plan: 'business', name: 'ChatGPT Business', price: 25 },
  { ...CURSOR, plan: 'teams', name: 'Cursor Teams', price: 40 },
  { ...CURSOR, plan: 'teams_premium', name: 'Cursor Teams, premium', price: 120 },
]

/** Names a plan as people do. */
export const nameOfPlan = ({ vendor, plan }: Pick<Plan, 'vendor'> & { plan: string | null }): string =>
  PRESETS.find((preset) => preset.vendor === vendor && preset.plan === plan)?.name ??
  `${vendor} ${plan ?? 'plan that is not entered'}`
