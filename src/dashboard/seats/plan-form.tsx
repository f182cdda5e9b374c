import { useState } from 'preact/hooks'
import type { Plan } from '../../features/seats/model.ts'
import { request } from '../client/api.ts'
import { today } from '../client/days.ts'
import { formatDay, formatDollars } from '../client/format.ts'
import { Choice, named } from '../parts/fields.tsx'
import { type Fields, Form, Input } from '../parts/form.tsx'
import { PRESETS } from './presets.ts'

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
  const own = plans.find(({ vendor, plan }) => vendor === preset?.vendor && plan === preset.plan)
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
          ){own !== undefined && `; you pay ${own.price_month} ${own.currency}`}
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
        defaultValue={own?.price_month ?? preset?.price ?? ''}
      />
      <Input
        label="Credits of a seat and month (if any)"
        {...{ name: 'credits', type: 'number', min: 0, step: 'any' }}
        defaultValue={own?.included_credits ?? preset?.credits ?? ''}
      />
      <Input label="From" name="from" type="date" required defaultValue={today()} />
    </Form>
  )
}
