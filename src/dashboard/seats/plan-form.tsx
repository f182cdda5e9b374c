// The form that adds a plan, with names and list prices of plans in US dollars a month, as their sources had them on a day.
// The prices fill the form only: what an organization pays itself comes first. The names stand wherever plans are shown.

import { useState } from 'preact/hooks'
import type { Plan } from '../../features/seats/model.ts'
import { request } from '../client/api.ts'
import { today } from '../client/days.ts'
import { formatDay, formatDollars } from '../client/format.ts'
import { Choice, named } from '../parts/fields.tsx'
import { type Fields, Form, Input } from '../parts/form.tsx'

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

const PRESETS: readonly Preset[] = [
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

const VENDORS = ['anthropic', 'openai', 'github', 'cursor', 'google', 'aws', 'openrouter', 'other']

/** Adds a plan; with `isReplaced` the one that is in force ends the day before. */
export const addPlan = (fields: Fields, isReplaced: boolean): Promise<unknown> => {
  const { vendor, plan, member, from, price, quantity, credits } = fields
  const body = {
    ...{ vendor, plan, from, price_month: Number(price), quantity: Number(quantity || 1) },
    ...(member && { member }),
    ...(credits && { included_credits: Number(credits) }),
  }
  return request(`/plans${isReplaced ? '?replace=true' : ''}`, { method: 'POST', body })
}

interface PlanFormProps {
  /** The plans that are known, the last first: their prices come before those of presets. */
  plans: readonly Plan[]
  onSend: (fields: Fields) => Promise<unknown>
}

export function PlanForm({ plans, onSend }: PlanFormProps) {
  const [chosen, setChosen] = useState('')
  const preset = PRESETS.find(({ plan, vendor }) => `${vendor} ${plan}` === chosen)
  const match = plans.find(({ vendor, plan }) => vendor === preset?.vendor && plan === preset.plan)
  return (
    <Form key={chosen} send="Add the plan" onSend={onSend}>
      <Choice
        label="Fill in"
        value={chosen}
        options={[
          ['', 'nothing'],
          ...PRESETS.map(({ vendor, plan, name }) => [`${vendor} ${plan}`, name] as const),
        ]}
        onChange={setChosen}
      />
      {preset !== undefined && (
        <p class="note">
          List price on {formatDay(preset.day)}: {formatDollars(preset.price)} a month (
          <a href={preset.source} rel="noreferrer">
            source
          </a>
          ){match !== undefined && `; you pay ${match.price_month} ${match.currency}`}
        </p>
      )}
      {preset === undefined ? (
        <Choice label="Vendor" name="vendor" value="anthropic" options={named(VENDORS)} />
      ) : (
        <Choice
          label="Vendor"
          name="vendor"
          value={preset.vendor}
          options={[[preset.vendor, preset.vendor]]}
        />
      )}
      <Input label="Plan" name="plan" required maxLength={100} defaultValue={preset?.plan ?? ''} />
      <Input label="Whose address (none: seats that are shared)" name="member" maxLength={320} />
      <Input label="Seats" name="quantity" type="number" min={1} step={1} defaultValue={1} />
      <Input
        label="US dollars a seat and month"
        {...{ name: 'price', type: 'number', required: true, min: 0, max: 100_000, step: 'any' }}
        defaultValue={(match?.currency === 'USD' ? match.price_month : preset?.price) ?? ''}
      />
      <Input
        label="Credits of a seat and month (if any)"
        {...{ name: 'credits', type: 'number', min: 0, step: 'any' }}
        defaultValue={match?.included_credits ?? preset?.credits ?? ''}
      />
      <Input label="From" name="from" type="date" required defaultValue={today()} />
    </Form>
  )
}
