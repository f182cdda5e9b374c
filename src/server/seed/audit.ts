import type { AuditRecord } from '../../analysis/records/audit.ts'
import { addDays, DAY_MS } from '../../base/dates.ts'
import { MEMBERS, randomFrom, type SeedPlan } from './generate.ts'

const ACTIONS = [
  ...(['session.synced', 'session.synced', 'session.synced', 'webhook.updated', 'webhook.created'] as const),
  ...(['api_key.created', 'api_key.revoked', 'member.updated', 'user.login'] as const),
] as const

/** Audit entries of `users` in order of time, spread evenly over the days. */
export function* generateAudit(
  { audit = 0, days, seed, today }: Omit<SeedPlan, 'projects'>,
  users = Array.from({ length: MEMBERS }, (_, index) => `user_seed${1 + index}`),
): Generator<AuditRecord> {
  const { below, pick } = randomFrom(seed ^ 0x6175_6469)
  const first = Date.parse(addDays(today, -days))
  for (let nth = 0; nth < audit; nth += 1) {
    yield {
      type: 'audit',
      id: `log_seed${seed}_${nth}`,
      action: pick(ACTIONS),
      user_id: users[below(users.length)] ?? 'system',
      created_at: new Date(first + Math.floor((nth / audit) * days * DAY_MS)).toISOString(),
      details: { ids: [`sess_seed${seed}_${nth}`] },
      ip_address: `203.0.113.${below(256)}`,
    }
  }
}
