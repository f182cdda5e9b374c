import type { ISql, Sql } from '../db/client.ts'
import { randomText } from '../ids.ts'
import { hashToken, makeToken } from './tokens.ts'

/** A person has this long to approve, and the machine asks so often at first: RFC 8628. */
export const DEVICE_EXPIRES_S = 600
export const DEVICE_INTERVAL_S = 5
/** Added to the interval of a machine that asks too often. */
const SLOW_DOWN_S = 5
/** No vowels, so that no words come out, and nothing that looks alike. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

/** A machine's wish to sign in. */
interface NewDevice {
  device_code: string
  /** `XXXX-XXXX` */
  user_code: string
}

export async function createDevice(sql: Sql, name: string): Promise<NewDevice> {
  const device_code = makeToken()
  const user_code = `${randomText(LETTERS, 4)}-${randomText(LETTERS, 4)}`
  await sql`
    insert into device_requests (device_hash, user_code, name, expires_at, interval_s)
    values (
      ${hashToken(device_code)}, ${user_code}, ${name},
      clock_timestamp() + ${DEVICE_EXPIRES_S} * interval '1 second', ${DEVICE_INTERVAL_S}
    )`
  return { device_code, user_code }
}

/** The answer to a machine's question: who has approved it, or why it gets no key yet. */
type DeviceAnswer =
  | { error: 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' }
  | { orgId: string; memberId: string; name: string }

/** Answers a machine; an answer that ends its waiting is given once. */
export async function askDevice(tx: ISql, deviceCode: string): Promise<DeviceAnswer> {
  const hash = hashToken(deviceCode)
  const [row] = await tx<
    {
      name: string
      approved: boolean | null
      orgId: string | null
      memberId: string | null
      expired: boolean
      early: boolean
    }[]
  >`
    select d.name, d.approved, d.org_id as "orgId", d.member_id as "memberId",
      d.expires_at <= clock_timestamp() as expired,
      coalesce(d.asked_at + d.interval_s * interval '1 second' > clock_timestamp(), false) as early
    from device_requests d
    where d.device_hash = ${hash}
    for update`
  if (row === undefined || row.expired) return { error: 'expired_token' }
  const { name, approved, orgId, memberId, early } = row
  if (approved !== null) {
    await tx`
      delete from device_requests
      where device_hash = ${hash}`
    return approved && orgId !== null && memberId !== null
      ? { orgId, memberId, name }
      : { error: 'access_denied' }
  }
  await tx`
    update device_requests
    set asked_at = statement_timestamp(),
      interval_s = interval_s + ${early ? SLOW_DOWN_S : 0}
    where device_hash = ${hash}`
  return { error: early ? 'slow_down' : 'authorization_pending' }
}

/** Answers for the machine with this code; false where there is none that waits. */
export async function answerDevice(
  tx: ISql,
  userCode: string,
  approver: { orgId: string; memberId: string } | null,
): Promise<boolean> {
  const { count } = await tx`
    update device_requests
    set approved = ${approver !== null}, org_id = ${approver?.orgId ?? null}, member_id = ${approver?.memberId ?? null}
    where user_code = ${userCode}
      and approved is null
      and expires_at > statement_timestamp()`
  return count > 0
}
