// The ids of the document's examples. The demo has what they name, so that each example succeeds there as it stands.

import { derivedId } from '../../base/ids.ts'

export const EXAMPLE_PULL_REQUEST = { repo: 'acme/checkout', pr_number: 302 }

/** The example of a parameter of the path, by its name; where another follows the path's first word, by both. */
export const EXAMPLE_IDS = {
  org_slug: 'demo',
  session_id: 'sess_4f1c2a',
  finding_id: 'finding_9x2b',
  pr_id: derivedId('risk', EXAMPLE_PULL_REQUEST.repo, EXAMPLE_PULL_REQUEST.pr_number),
  key_id: 'k3y1d001',
  user_id: 'user_7h2k9d',
  /** A month to come: its budget changes nothing that is shown. */
  month: '2030-01',
  webhook_id: 'hook_3k9d',
  alert_id: 'alert_6p2d9x4m',
  digest_id: 'digest_1w8k3h5c',
  plan_id: 'plan_4f1c2a',
  effect_id: 'eff_5t7r2m',
  delivery_id: 'dlv_8s2m',
  'digests/delivery_id': 'dlv_5w1d',
} as const
