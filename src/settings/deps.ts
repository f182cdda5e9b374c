import type { Sql } from '../db/client.ts'
import type { Access } from '../http/admission.ts'
import type { Change, EnqueueWrite } from '../organizations/gate.ts'
import type { Changer } from '../sync/member-changes.ts'
import type { SecretBox } from '../webhooks/signing/secret-box.ts'

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

/** An API key counts as an admin, also an owner's: only a person who signed in acts as an owner. */
export const changerOf = ({ actor, person }: Pick<Access, 'actor' | 'person'>): Changer => ({
  actor,
  mayChangeOwners: person?.role === 'owner',
})
