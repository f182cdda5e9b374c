import type { Change, EnqueueWrite } from '../../accounts/organizations/gate.ts'
import { type Access, rightsOf } from '../../accounts/people/callers.ts'
import type { Sql } from '../../database/client.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import type { Changer } from './member-changes.ts'

/** The routes of settings need these besides `RouteDeps`. */
export interface SettingsDeps {
  /** Connections for transactions. */
  writes: Sql
  box: SecretBox
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
  inTurn: Change
  /** The server listens here; it is for links without PUBLIC_URL. */
  listenUrl: () => string
}

export const changerOf = (access: Pick<Access, 'actor' | 'scopes' | 'person'>): Changer => ({
  actor: access.actor,
  rights: rightsOf(access),
})
