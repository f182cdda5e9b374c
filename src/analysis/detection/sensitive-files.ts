// Tells which files hold secrets or keys by their paths.

import type { Severity } from '../records/finding.ts'

/** The kind of a file that an agent should not read or keep. */
interface Sensitivity {
  /** `SSH private key`, … */
  kind: string
  /** Severity of reading it, which sends its text to the model's vendor. */
  severity: Severity
}

/** `pattern` matches the whole path in lower case, with `/` between folders. */
type Kind = readonly [kind: string, severity: Severity, pattern: RegExp]

// Files are classified by path, since the contents are not known. The first matching kind applies.
const KINDS: readonly Kind[] = [
  ['SSH private key', 'high', /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/],
  ['list of authorized SSH keys', 'low', /(?:^|\/)\.ssh\/authorized_keys$/],
  [
    'cloud credentials file',
    'high',
    /(?:^|\/)(?:\.aws\/credentials|\.azure\/(?:accesstokens\.json|msal_token_cache\.\w+)|\.?gcloud\/(?:credentials\.db|access_tokens\.db|application_default_credentials\.json)|application_default_credentials\.json)$/,
  ],
  [
    'Kubernetes credentials file',
    'high',
    /(?:^|\/)(?:\.kube\/config|kubeconfig(?:\.ya?ml)?|[\w-]+\.kubeconfig)$/,
  ],
  [
    'credentials file',
    'high',
    /(?:^|\/)(?:\.netrc|_netrc|\.pgpass|\.git-credentials|\.my\.cnf|\.vault-token|gh\/hosts\.yml|\.claude\/\.credentials\.json|\.codex\/auth\.json)$|^\/etc\/g?shadow$/,
  ],
  [
    'registry credentials file',
    'medium',
    /(?:^~|^\/home\/[^/]+|^\/users\/[^/]+|^\/root)\/\.npmrc$|(?:^|\/)(?:\.pypirc|\.docker\/config\.json)$/,
  ],
  // inside a project it mostly contains settings only
  ['registry settings file', 'low', /(?:^|\/)\.npmrc$/],
  ['environment file', 'medium', /(?:^|\/)\.env(?:\.[\w.-]+)?$/],
  ['private key or key store', 'medium', /(?:^|\/)[^/]+\.(?:pem|p12|pfx|jks|keystore|ppk|key)$/],
  [
    'secrets file',
    'medium',
    /(?:^|\/)(?:secrets?\.(?:ya?ml|json|toml)|credentials\.json|service[-_]account[\w-]*\.json|terraform\.tfvars|[\w.-]+\.tfstate)$/,
  ],
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
  const [kind, severity] = KINDS.find(([, , pattern]) => pattern.test(plain)) ?? []
  if (kind === undefined || severity === undefined) return null
  return { kind, severity: TEST_FOLDER.test(plain) ? 'low' : severity }
}
