// Kinds of files that matter to security, found by path. The weights are our own choice; each kind counts
// once per change, by the extent of its changed lines.

import { SEVERITY_POINTS, type Severity } from '../../analysis/records/finding.ts'
import { type Contribution, componentOf, extentOf, type ScoreComponent } from './contributions.ts'
import type { ChangedFile } from './regression.ts'

interface SensitiveKind {
  name: string
  points: number
  pattern: RegExp
  /** It has all points, however few lines changed. */
  whole?: true
}

/** Matches a whole word of a path (`author` does not match `auth`); the path is `lowered`. */
const word = (words: string): RegExp => new RegExp(`(?:^|[^a-z])(?:${words})(?:[^a-z]|$)`)

const KINDS: readonly SensitiveKind[] = [
  {
    name: 'secrets',
    points: 40,
    whole: true,
    pattern:
      /(?:^|\/)\.env(?:\.(?!example|sample|template|dist)[^/]*)?$|\.(?:pem|key|p12|pfx|jks|keystore|kdbx)$|(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)$|(?:^|[^a-z])(?:secrets?|credentials?|vault)(?:[^a-z]|$)|(?:^|\/)\.(?:npmrc|netrc|pypirc|htpasswd)$/,
  },
  {
    name: 'authentication',
    points: 25,
    pattern: word(
      'auth|oauth2?|authn|authz|authentication|authori[sz]ation|login|logins|sso|saml|oidc|jwt|passwords?|permissions?|rbac|acl|acls|iam|access[-_ ]?control|2fa|mfa|totp',
    ),
  },
  {
    name: 'cryptography',
    points: 20,
    pattern: word(
      'crypto|cryptography|encrypt|encryption|decrypt|cipher|ciphers|hmac|tls|ssl|signature|signatures|certs?|certificates?',
    ),
  },
  {
    name: 'pipeline',
    points: 20,
    pattern:
      /(?:^|\/)\.github\/(?:workflows|actions)\/|(?:^|\/)\.gitlab-ci[^/]*\.ya?ml$|(?:^|\/)\.(?:circleci|buildkite|ci)\/|(?:^|\/)jenkinsfile[^/]*$|(?:^|\/)(?:azure-pipelines|bitbucket-pipelines|\.travis|\.drone)[^/]*\.ya?ml$|(?:^|\/)codeowners$/,
  },
  {
    name: 'infrastructure',
    points: 15,
    pattern:
      /(?:^|\/)(?:dockerfile|containerfile)[^/]*$|\.dockerfile$|(?:^|\/)(?:docker-)?compose[^/]*\.ya?ml$|\.(?:tf|tfvars|hcl)$|(?:^|\/)(?:k8s|kubernetes|helm|charts|terraform|ansible)\/|(?:^|\/)nginx[^/]*\.conf$/,
  },
  {
    name: 'dependencies',
    points: 10,
    pattern:
      /(?:^|\/)(?:package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|go\.(?:mod|sum)|cargo\.(?:toml|lock)|pyproject\.toml|poetry\.lock|uv\.lock|pipfile(?:\.lock)?|setup\.(?:py|cfg)|requirements[^/]*\.txt|gemfile(?:\.lock)?|[^/]+\.gemspec|composer\.(?:json|lock)|pom\.xml|build\.gradle(?:\.kts)?|gradle\.lockfile|libs\.versions\.toml|[^/]+\.csproj|packages\.lock\.json|directory\.packages\.props|mix\.(?:exs|lock)|pubspec\.(?:yaml|lock)|package\.(?:swift|resolved)|podfile(?:\.lock)?)$/,
  },
  {
    name: 'migrations',
    points: 10,
    pattern: /(?:^|\/)(?:migrations?|migrate|alembic|flyway|liquibase)\/|\.sql$/,
  },
]

/** Tests and documents, which have no kind: they change nothing that runs. */
const HARMLESS =
  /(?:^|\/)(?:tests?|__tests__|spec|specs|docs?|fixtures|testdata)\/|[._-](?:test|spec)\.[a-z]+$|\.(?:md|rst|adoc)$/

/** `src/loginForm.ts` as `src/login-form.ts`. */
const lowered = (path: string): string => path.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()

/** The kinds of sensitive files among these, with how many there are of each. */
export function sensitiveKinds(files: readonly ChangedFile[]): Contribution[] {
  const plainFiles = files.map((file) => ({ ...file, path: lowered(file.path) }))
  const harmful = plainFiles.filter(({ path }) => !HARMLESS.test(path))
  return KINDS.flatMap(({ name, points, pattern, whole }) => {
    const ofKind = harmful.filter(({ path }) => pattern.test(path))
    if (ofKind.length === 0) return []
    const lines = ofKind.reduce((sum, { additions, deletions }) => sum + additions + deletions, 0)
    return [{ name, value: ofKind.length, points: whole ? points : points * extentOf(lines) }]
  })
}

export type OpenFindings = Record<Severity, number>

/** The points of the open findings in the files and of the kinds of sensitive files among them, at most 100. */
export function securityComponent(files: readonly ChangedFile[], findings: OpenFindings): ScoreComponent {
  const counts = (['critical', 'high', 'medium', 'low'] as const).flatMap((severity) => {
    const value = findings[severity]
    return value === 0
      ? []
      : [{ name: `${severity}_findings`, value, points: value * SEVERITY_POINTS[severity] }]
  })
  return componentOf([...counts, ...sensitiveKinds(files)])
}
