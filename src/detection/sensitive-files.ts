import type { Severity } from '../records/finding.ts'

/** What a file holds that should not be read or kept by an agent. */
export interface Sensitivity {
  /** `SSH private key`, … */
  kind: string
  /** Of reading it: its text goes to the model's vendor. */
  severity: Severity
}

interface Kind extends Sensitivity {
  /** Of the whole path in lower case, `/` between folders. */
  pattern: RegExp
}

// Names, not contents: what is in a file is not known here. The first match holds.
const KINDS: readonly Kind[] = [
  { kind: 'SSH private key', severity: 'high', pattern: /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/ },
  { kind: 'list of authorized SSH keys', severity: 'low', pattern: /(?:^|\/)\.ssh\/authorized_keys$/ },
  {
    kind: 'cloud credentials file',
    severity: 'high',
    pattern:
      /(?:^|\/)(?:\.aws\/credentials|\.azure\/(?:accesstokens\.json|msal_token_cache\.\w+)|\.?gcloud\/(?:credentials\.db|access_tokens\.db|application_default_credentials\.json)|application_default_credentials\.json)$/,
  },
  {
    kind: 'Kubernetes credentials file',
    severity: 'high',
    pattern: /(?:^|\/)(?:\.kube\/config|kubeconfig(?:\.ya?ml)?|[\w-]+\.kubeconfig)$/,
  },
  {
    kind: 'credentials file',
    severity: 'high',
    pattern:
      /(?:^|\/)(?:\.netrc|_netrc|\.pgpass|\.git-credentials|\.my\.cnf|\.vault-token|gh\/hosts\.yml|\.claude\/\.credentials\.json|\.codex\/auth\.json)$|^\/etc\/g?shadow$/,
  },
  {
    kind: 'registry credentials file',
    severity: 'medium',
    pattern:
      /(?:^~|^\/home\/[^/]+|^\/users\/[^/]+|^\/root)\/\.npmrc$|(?:^|\/)(?:\.pypirc|\.docker\/config\.json)$/,
  },
  // in a project it is mostly settings
  { kind: 'registry settings file', severity: 'low', pattern: /(?:^|\/)\.npmrc$/ },
  { kind: 'environment file', severity: 'medium', pattern: /(?:^|\/)\.env(?:\.[\w.-]+)?$/ },
  {
    kind: 'private key or key store',
    severity: 'medium',
    pattern: /(?:^|\/)[^/]+\.(?:pem|p12|pfx|jks|keystore|ppk|key)$/,
  },
  {
    kind: 'secrets file',
    severity: 'medium',
    pattern:
      /(?:^|\/)(?:secrets?\.(?:ya?ml|json|toml)|credentials\.json|service[-_]account[\w-]*\.json|terraform\.tfvars|[\w.-]+\.tfstate)$/,
  },
]

/** Templates, public halves, certificates: named alike, but nothing to hide. */
const HARMLESS =
  /(?:^|\/)\.env[\w.-]*\.(?:example|sample|template|tpl|dist|defaults?|schema|vault|d\.ts|md)$|(?:^|\/)\.env\.(?:test|ci)$|(?:^|\/)[^/]*(?:cert|chain|public|\bca\b|bundle|pubkey)[^/]*\.(?:pem|key)$/
/** Made-up keys of tests. */
const OF_TESTS = /(?:^|\/)(?:tests?|__tests__|testdata|test-data|fixtures?|spec|examples?|mocks?)\//

/** What the file is, by its name; null when nothing speaks for a secret in it. */
export function sensitivityOf(path: string): Sensitivity | null {
  const plain = path.replaceAll('\\', '/').toLowerCase()
  if (HARMLESS.test(plain)) return null
  const found = KINDS.find(({ pattern }) => pattern.test(plain))
  if (found === undefined) return null
  return { kind: found.kind, severity: OF_TESTS.test(plain) ? 'low' : found.severity }
}
