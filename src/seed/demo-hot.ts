import { DAY_MS } from '../dates.ts'
import type { FindingRecord } from '../records/finding.ts'
import { demoSession } from './demo-session.ts'
import { PEOPLE, PROJECTS } from './demo-team.ts'
import type { DemoPlan, DemoWork } from './demo-work.ts'
import { randomFrom } from './generate.ts'

// What needs attention in the demo: large pull requests that change how people sign in, keys and pipelines, and the
// findings of their sessions.

interface HotPullRequest {
  title: string
  branch: string
  /** Indexes of PROJECTS and PEOPLE. */
  project: number
  who: number
  daysAgo: number
  files: readonly string[]
}

const FIRST_NUMBER = 301
const HOUR_MS = 3_600_000
/** The newest session of all: other work ends an hour before now. */
const NEWEST_MS = HOUR_MS / 2
const SHARED = [
  '.github/workflows/release.yml',
  'Dockerfile',
  'migrations/0042_tokens.sql',
  'deploy/secrets.yaml',
]

const HOT: readonly HotPullRequest[] = [
  {
    title: 'Fix sign-in: rotate tokens and encrypt what is kept',
    branch: 'fix/token-rotation',
    project: 1,
    who: 1,
    daysAgo: 1,
    files: [
      'src/auth/login.go',
      'src/auth/token.go',
      'src/auth/permissions.go',
      'internal/crypto/hmac.go',
      'internal/crypto/cipher.go',
      'internal/session/store.go',
      'internal/api/handler.go',
      'internal/ledger/entries.go',
      'go.mod',
      'go.sum',
      ...SHARED,
    ],
  },
  {
    title: 'Fix checkout: sign-in by SAML and new permissions',
    branch: 'fix/saml',
    project: 0,
    who: 3,
    daysAgo: 4,
    files: [
      'src/auth/saml.ts',
      'src/auth/permissions.ts',
      'src/crypto/signature.ts',
      'src/cart/prices.ts',
      'web/login/page.tsx',
      'test/auth/saml.test.ts',
      'package.json',
      'bun.lock',
      ...SHARED,
    ],
  },
  {
    title: 'Move the secrets of infra into the vault',
    branch: 'chore/vault',
    project: 6,
    who: 7,
    daysAgo: 9,
    files: [
      'modules/vault/main.tf',
      'modules/vault/iam.tf',
      'modules/network/tls.tf',
      'modules/backups/keys.tf',
      'scripts/rotate/credentials.sh',
      ...SHARED,
    ],
  },
]

/** Rules that find something in the first file of each, so that it is above the threshold of the heatmap. */
const FOUND = [
  { rule_id: 'aws-access-key', category: 'secret', severity: 'critical', title: 'AWS access key' },
  { rule_id: 'private-key', category: 'secret', severity: 'critical', title: 'Private key' },
  {
    rule_id: 'download-to-shell',
    category: 'command',
    severity: 'high',
    title: 'Downloaded script run by a shell',
  },
] as const

/** The records of `plan`, as `generateWork` makes the others. */
export function generateHotWork({ seed, now }: DemoPlan): DemoWork {
  const random = randomFrom(seed)
  const work: DemoWork = { sessions: [], commits: [], pullRequests: [] }
  for (const [nth, { title, branch, project, who, daysAgo, files }] of HOT.entries()) {
    const name = PROJECTS[project]?.name ?? ''
    const { email = '', name: author = '' } = PEOPLE[who] ?? {}
    const sha = new Bun.CryptoHasher('sha1').update(`demo ${seed} hot ${nth}`).digest('hex')
    const created_at = new Date(now.getTime() - daysAgo * DAY_MS).toISOString()
    const changes = files.map((path) => ({
      path,
      status: 'modified' as const,
      additions: 180 + Math.floor(random() * 300),
      deletions: Math.floor(random() * 80),
    }))
    const repo = `acme/${name}`
    const pr_number = FIRST_NUMBER + nth
    work.commits.push({
      type: 'commit',
      project: name,
      sha,
      author_email: email,
      author_name: author,
      committed_at: created_at,
      subject: title,
      files: changes,
    })
    work.pullRequests.push({
      type: 'pr_risk',
      repo,
      pr_number,
      pr_title: title,
      files_changed: files.length,
      created_at,
      project: name,
      author_email: email,
      files: changes,
      branch,
      commits: [sha],
    })
    for (const [step, rule] of FOUND.entries()) {
      // the last one is still at work
      const isNewest = nth === 0 && step === FOUND.length - 1
      const at = now.getTime() - (isNewest ? NEWEST_MS : daysAgo * DAY_MS + (step + 1) * HOUR_MS)
      const content = demoSession(random, 'claude-code', files)
      work.sessions.push({
        ...content,
        id: `sess_hot${nth}${step}`,
        project_name: name,
        user_email: email,
        branch,
        created_at: new Date(at).toISOString(),
        pull_requests: [{ repo, number: pr_number }],
        security_metadata: { findings: [findingIn(files[0] ?? '', rule)] },
      })
    }
  }
  return work
}

const findingIn = (file: string, rule: (typeof FOUND)[number]): FindingRecord => ({
  ...rule,
  file,
  turn_number: 1,
  fingerprint: `demo-${rule.rule_id}-${file}`,
})
