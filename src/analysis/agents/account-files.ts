// Reads the limits and the plan that an agent's account file states. It holds more, also what is secret: nothing else is taken.

import { basename } from 'node:path'
import type { LimitRecord } from '../records/plan.ts'
import { FORMATS, formatAgent } from './format-list.ts'
import { isObject } from './transcript/json.ts'
import { jsonAt } from './transcript/json-lines.ts'
import { agentLimitRecords } from './transcript/stated-limits.ts'

const formatOf = (path: string) => FORMATS.find(({ account }) => account?.name === basename(path))

export const isAccount = (path: string): boolean => formatOf(path) !== undefined

function accountAt(path: string) {
  const format = formatOf(path)
  const document = format && jsonAt(path)
  return format?.account && isObject(document)
    ? { agent: formatAgent(format), account: format.account, document }
    : undefined
}

export function readAccount(path: string, options: Parameters<typeof agentLimitRecords>[2]): LimitRecord[] {
  const file = accountAt(path)
  return file === undefined ? [] : agentLimitRecords(file.account.limits(file.document), file.agent, options)
}

/** The agents of these files for whose calls a subscription pays where they do not say who does. */
export const agentsOnPlans = (paths: readonly string[]): string[] =>
  paths.flatMap((path) => {
    const file = accountAt(path)
    return file?.account.isPlan(file.document) === true ? [file.agent] : []
  })

/** The text that stands for an account: nobody can tell the account from it, nor whether two organizations have the same. */
export const accountHash = (organizationId: string, account: string): string =>
  new Bun.CryptoHasher('sha256')
    .update(organizationId + account)
    .digest('hex')
    .slice(0, 16)
