// Stores machines that ask for a key, until a person approves them in the browser (RFC 8628).

import { TIME_PATTERN } from '../../base/dates.ts'
import { randomText } from '../../base/ids.ts'
import type { ISql, Sql } from '../../database/client.ts'
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

export async function createDevice(sql: Sql, name: string, ipAddress: string | null): Promise<NewDevice> {
  const device_code = makeToken()
  const user_code = `${randomText(LETTERS, 4)}-${randomText(LETTERS, 4)}`
  await sql`
    insert into device_requests (device_hash, user_code, name, ip_address, expires_at, interval_s)
    values (
      ${hashToken(device_code)}, ${user_code}, ${name}, ${ipAddress},
      clock_timestamp() + ${DEVICE_EXPIRES_S} * interval '1 second', ${DEVICE_INTERVAL_S}
    )`
  return { device_code, user_code }
}

/** A machine that waits, as the person who is to approve it sees it. */
export interface WaitingDevice {
  name: string
  ip_address: string | null
  /** UTC, milliseconds */
  requested_at: string
}

export async function findDevice(sql: Sql, userCode: string): Promise<WaitingDevice | undefined> {
  const [row] = await sql<WaitingDevice[]>`
    select d.name, d.ip_address, to_char(d.requested_at at time zone 'UTC', ${TIME_PATTERN}) as requested_at
    from device_requests d
    where d.user_code = ${userCode}
      and d.approved is null
      and d.expires_at > statement_timestamp()`
  return row
}

/** Notes that a machine that waits has asked; whether it asked too early. Undefined for one that does not wait. */
export async function askDevice(sql: Sql, deviceCode: string): Promise<{ isEarly: boolean } | undefined> {
  const hash = hashToken(deviceCode)
  const [row] = await sql<{ isEarly: boolean }[]>`
    -- materialized, and without coalesce: Citus takes a time only so in what is returned
    with b as materialized (
      select (extract(epoch from statement_timestamp() - r.asked_at) < r.interval_s) is true as early
      from device_requests r
      where r.device_hash = ${hash}
    )
    update device_requests d
    set asked_at = statement_timestamp(),
      interval_s = d.interval_s + b.early::integer * ${SLOW_DOWN_S}
    from b
    where d.device_hash = ${hash}
      and d.approved is null
      and d.expires_at > statement_timestamp()
    returning b.early as "isEarly"`
  return row
}

interface DeviceAnswer {
  approved: boolean
  orgId: string
  memberId: string
  /** The address of the person. */
  from: string | null
  name: string
}

/** The organization whose member has answered for the machine; undefined where none has, or too late. */
export async function findAnswer(sql: Sql, deviceCode: string): Promise<string | undefined> {
  const [row] = await sql<{ orgId: string }[]>`
    select d.org_id as "orgId"
    from device_requests d
    where d.device_hash = ${hashToken(deviceCode)}
      and d.approved is not null
      and d.expires_at > statement_timestamp()`
  return row?.orgId
}

/** Takes the answer for the machine, which is given once. */
export async function takeAnswer(tx: ISql, deviceCode: string): Promise<DeviceAnswer | undefined> {
  const [row] = await tx<DeviceAnswer[]>`
    delete from device_requests
    where device_hash = ${hashToken(deviceCode)}
      and approved is not null
    returning approved, org_id as "orgId", member_id as "memberId", approved_from as "from", name`
  return row
}

/** Answers for the machine with this code, and returns its name; undefined where there is none that waits. */
export async function answerDevice(
  tx: ISql,
  userCode: string,
  { approved, orgId, memberId, from }: Omit<DeviceAnswer, 'name'>,
): Promise<string | undefined> {
  const [row] = await tx<{ name: string }[]>`
    update device_requests
    set approved = ${approved}, org_id = ${orgId}, member_id = ${memberId}, approved_from = ${from}
    where user_code = ${userCode}
      and approved is null
      and expires_at > statement_timestamp()
    returning name`
  return row?.name
}
