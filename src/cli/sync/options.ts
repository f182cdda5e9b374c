import type { ProjectFrom } from '../../analysis/agents/transcript/workspace.ts'
import { OperatorError } from '../../base/errors.ts'
import { checked } from '../client/user.ts'

export interface SyncOptions {
  org?: string
  server?: string
  key?: string
  project?: string
  projectFrom?: ProjectFrom
  user?: string
  content?: true
  dryRun?: true
  /** The former name of `resend`. */
  all?: true
  resend?: true
  reassign?: true
  restore?: true
  /** UTC, ms since 1970. */
  since?: number
  /** Milliseconds. */
  settled?: number
  quiet?: true
  yes?: true
}

export const isResend = ({ all, resend }: SyncOptions): boolean => all === true || resend === true

/** Throws OperatorError for options that do not go together, or are wrong. */
export function checkUsage({ server, key, org, project, user }: SyncOptions): void {
  const wrong = (message: string) => new OperatorError(message, 2)
  if (org !== undefined && (server !== undefined || key !== undefined))
    throw wrong('--org is for the local database: a key knows its organization')
  if (project !== undefined && (project === '' || project.length > 200))
    throw wrong('--project must have 1 to 200 characters')
  if (user !== undefined) checked(user, '--user')
}
