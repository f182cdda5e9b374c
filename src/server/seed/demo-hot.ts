// Makes the parts of the demo that need attention: large pull requests that change how people sign in, keys and
// pipelines, and the findings of their sessions.

import { DAY_MS } from '../../base/dates.ts'
import { EXAMPLE_IDS, EXAMPLE_PULL_REQUEST } from '../../http/openapi/examples.ts'
import { demoSession, demoVersion } from './demo-session.ts'
import { branchFields, commitOf, type DemoPlan, type DemoWork, pullRequestOf, shaOf } from './demo-work.ts'
import { demoFinding } from './findings.ts'
import { randomFrom } from './generate.ts'

const FIRST_NUMBER = 301
const HOUR_MS = 3_600_000
/** The newest session of all: other work ends an hour before now. */
const NEWEST_MS = HOUR_MS / 2
const SHARED = '.github/workflows/release.yml Dockerfile migrations/0042_tokens.sql deploy/secrets.yaml'

/** `project` and `who` are indexes of PROJECTS and PEOPLE; SHARED are changed beside `files`. */
const HOT = [
  {
    title: 'Fix sign-in: rotate tokens and encrypt what is kept',
    branch: 'fix/token-rotation',
    project: 1,
    who: 1,
    daysAgo: 1,
    files:
      'src/auth/login.go src/auth/token.go src/auth/permissions.go internal/crypto/hmac.go internal/crypto/cipher.go internal/session/store.go internal/api/handler.go internal/ledger/entries.go go.mod go.sum',
  },
  {
    title: 'Fix checkout: sign-in by SAML and new permissions',
    branch: 'fix/saml',
    project: 0,
    who: 3,
    daysAgo: 4,
    files:
      'src/auth/saml.ts src/auth/permissions.ts src/crypto/signature.ts src/cart/prices.ts web/login/page.tsx test/auth/saml.test.ts package.json bun.lock',
  },
  {
    title: 'Move the secrets of infra into the vault',
    branch: 'chore/vault',
    project: 6,
    who: 7,
    daysAgo: 9,
    files:
      'modules/vault/main.tf modules/vault/iam.tf modules/network/tls.tf modules/backups/keys.tf scripts/rotate/credentials.sh',
  },
]

/** Rules that find something in the first file of each, so that it is above the threshold of the heatmap. */
const FOUND = ['aws-access-key', 'private-key', 'download-to-shell'] as const

export function generateHotWork({ seed, now }: DemoPlan): DemoWork {
  const random = randomFrom(seed)
  const work: DemoWork = { sessions: [], commits: [], pullRequests: [] }
  for (const [nth, { title, branch, project, who, daysAgo, files }] of HOT.entries()) {
    const sha = shaOf(`demo ${seed} hot ${nth}`)
    const at = now.getTime() - daysAgo * DAY_MS
    const paths = `${files} ${SHARED}`.split(' ')
    const changes = paths.map((path) => ({
      path,
      status: 'modified' as const,
      additions: 180 + random.below(300),
      deletions: random.below(80),
    }))
    const branchOf = { project, who, branch }
    const number = FIRST_NUMBER + nth
    work.commits.push(commitOf(branchOf, { sha, at, subject: title, files: changes, now }))
    work.pullRequests.push(
      pullRequestOf(branchOf, { number, title, at, files: changes, commits: [sha], now }),
    )
    for (const [step, rule] of FOUND.entries()) {
      // the last one is still at work
      const isNewest = nth === 0 && step === FOUND.length - 1
      const isExample = number === EXAMPLE_PULL_REQUEST.pr_number && step === 0
      const endedAt = now.getTime() - (isNewest ? NEWEST_MS : daysAgo * DAY_MS + (step + 1) * HOUR_MS)
      work.sessions.push({
        ...demoSession(random, 'claude-code', paths),
        ...{ version: demoVersion('claude-code', endedAt), effort: 'medium' },
        ...branchFields(branchOf, number),
        id: isExample ? EXAMPLE_IDS.session_id : `sess_hot${nth}${step}`,
        created_at: new Date(endedAt).toISOString(),
        security_metadata: {
          findings: [
            { ...demoFinding(rule, paths[0] ?? '', 1), ...(isExample && { id: EXAMPLE_IDS.finding_id }) },
          ],
        },
      })
    }
  }
  return work
}
