import type { Severity } from '../records/finding.ts'

/** The kind of a file that an agent should not read or keep. */
interface Sensitivity {
  /** `SSH private key`, … */
  kind: string
  /** Severity of reading it, which sends its text to the model's vendor. */
  severity: Severity
}

interface Kind extends Sensitivity {
  /** Matches the whole path in lower case, with `/` between folders. */
  pattern: RegExp
}

// Files are classified by path, since the contents are not known. The first matching kind applies.
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
  // inside a project it mostly contains settings only
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

/** Templates, public keys and certificates: similar names without secrets. */
const HARMLESS =
  /(?:^|\/)\.env[\w.-]*\.(?:example|sample|template|tpl|dist|defaults?|schema|vault|d\.ts|md)$|(?:^|\/)\.env\.(?:test|ci)$|(?:^|\/)[^/]*(?:cert|chain|public|\bca\b|bundle|pubkey)[^/]*\.(?:pem|key)$/
/** Folders of tests and examples, whose keys are not in use. */
const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|testdata|test-data|fixtures?|spec|examples?|mocks?)\//

/** The kind of a sensitive file by its path; null for any other file. */
export function sensitivityOf(path: string): Sensitivity | null {
  const plain = path.replaceAll('\\', '/').toLowerCase()
  if (HARMLESS.test(plain)) return null
  const found = KINDS.find(({ pattern }) => pattern.test(plain))
  if (found === undefined) return null
  return { kind: found.kind, severity: TEST_FOLDER.test(plain) ? 'low' : found.severity }
}
