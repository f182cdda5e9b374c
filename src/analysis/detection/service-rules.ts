// Our own rules for keys of services that the preset does not know.

import type { Severity } from '../records/finding.ts'
import type { Needed } from './prepare-text.ts'
import { looksRandom } from './random-text.ts'

export interface OwnRule {
  ruleId: string
  title: string
  /** Its time is linear in the text: no two starts of a match share more than a bounded number of characters. */
  pattern: RegExp
  /** Is in every text in which the rule finds something. */
  needed?: Needed
  /** The same for a rule whose secrets are long words: matches the long words of such a text. */
  word?: RegExp
  /** Four characters, one of which every match has, with 16 characters of tokens behind them: see `headsIn` of secret-rules.ts. */
  heads?: readonly string[]
  severity: Severity
  /** The secret inside a match, if it is not the match: its offset from the match and its text. */
  secretIn?: (match: RegExpExecArray) => { at: number; secret: string } | null
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

const SK = /sk[-_][0-9a-f]{20}/

/** A token that stands alone: neither before nor behind it is a character that it may have. Its group, if it has one, looks random. */
type Service = readonly [
  ruleId: string,
  title: string,
  /** An expression for a long word, or heads with spaces between them. */
  needed: string | RegExp,
  token: RegExp,
  isValid?: (token: string) => boolean,
]

/** Ids of keys are of no use without their keys. */
const MEDIUM = new Set(['digitalocean-spaces-key', 'alibaba-key'])

/** Base64 has such letters too. */
const isNoBase64 = (token: string): boolean => /\d/.test(token) && !/AAAAA/.test(token)

/** Tokens of services that the preset lacks, each with a part that nothing else has. Patterns after gitleaks (MIT). */
const SERVICES: readonly Service[] = [
  [
    'azure-client-secret',
    'Azure client secret',
    /\dQ~[\w~.-]{16}/,
    /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/,
  ],
  ['azure-devops-token', 'Azure DevOps token', /[A-Za-z0-9]{16}AZDO/, /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/],
  ['digitalocean-spaces-key', 'DigitalOcean Spaces key id', 'DO00', /DO00[A-Z0-9]{16}/],
  [
    'doppler-token',
    'Doppler token',
    '.pt. .st. .ct. .sa. cim. dit.',
    /dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}/,
  ],
  ['flyio-token', 'Fly.io token', 'fo1_', /fo1_[\w-]{43}/],
  [
    'flyio-token',
    'Fly.io token',
    'fm1_ fm2_ m1r_ m2r_ m1a_ m2a_',
    /fm[12][ar]?_[A-Za-z0-9+/]{60,4000}={0,3}/,
  ],
  ['terraform-token', 'Terraform token', 'sv1.', /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}/],
  ['heroku-key', 'Heroku API key', 'RKU-', /HRKU-[\w-]{36,60}/],
  ['hubspot-token', 'HubSpot token', 'pat-', new RegExp(`pat-(?:na|eu|ap)\\d-${UUID}`)],
  ['mailchimp-key', 'Mailchimp API key', /[0-9a-f]{16}-us\d/, /[0-9a-f]{32}-us\d{1,2}/],
  ['mailgun-key', 'Mailgun key', 'key-', /(?:pub)?key-[0-9a-f]{32}/],
  ['netlify-token', 'Netlify token', 'nfp_ nfc_ nfo_ nfu_', /nf[pcou]_[A-Za-z0-9]{36}/],
  ['newrelic-key', 'New Relic key', 'RAK-', /NRAK-[A-Za-z0-9]{27}/],
  ['newrelic-key', 'New Relic key', 'RJS-', /NRJS-[a-f0-9]{19}/],
  ['newrelic-key', 'New Relic key', 'RII-', /NRII-[A-Za-z0-9-]{32}/],
  ['postman-key', 'Postman API key', 'MAK-', /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/],
  ['planetscale-token', 'PlanetScale credential', 'tkn_ _pw_ uth_', /pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}/],
  ['pulumi-token', 'Pulumi token', 'pul-', /pul-[0-9a-f]{40}/],
  ['sentry-token', 'Sentry token', 'ryu_', /sntryu_[0-9a-f]{64}/],
  ['sentry-token', 'Sentry token', 'rys_', /sntrys_eyJ[A-Za-z0-9+/=_-]{80,500}/],
  ['square-token', 'Square token', 'atp- csp- idp-', /sq0(?:atp|csp|idp)-[\w-]{22,43}/],
  ['square-token', 'Square token', 'EAAA', /EAAA[\w-]{60}/, isNoBase64],
  ['supabase-token', 'Supabase key', 'sbp_', /sbp_[0-9a-f]{40}/],
  ['supabase-token', 'Supabase key', 'ret_', /sb_secret_[\w-]{31,40}/],
  ['telegram-token', 'Telegram bot token', /:A[\w-]{16}/, /\d{5,16}:A[\w-]{34}/],
  ['twilio-key', 'Twilio API key', /SK[0-9a-f]{16}/, /SK[0-9a-f]{32}/],
  [
    'discord-token',
    'Discord bot token',
    /\.[GXYZ][\w-]{5}\.[\w-]{16}/,
    /[MNO][ADEIMQTUYcgjkwxyz][A-Za-z0-9]{21,25}\.[GXYZ][\w-]{5}\.[\w-]{27,38}/,
  ],
  [
    'discord-webhook',
    'Discord webhook',
    'oks/',
    /discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,80}/,
  ],
  ['age-secret-key', 'age secret key', 'KEY-', /AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/],
  ['airtable-token', 'Airtable token', /\.[0-9a-f]{48}/, /pat([A-Za-z0-9]{14}\.[0-9a-f]{64})/],
  ['alibaba-key', 'Alibaba Cloud key id', 'LTAI', /LTAI([A-Za-z0-9]{16,20})/],
  ['anthropic-token', 'Anthropic token', 'ant-', /sk-ant-(?:admin|oat|ort|sid)\d\d-([\w-]{80,120})/],
  [
    'atlassian-token',
    'Atlassian token',
    'ATT3 CTT3',
    /AT[AC]TT3[\w=-]{100,300}=[0-9A-F]{8}/,
    endsInCrc(8, 16),
  ],
  [
    'aws-session-token',
    'AWS session token',
    'IQoJ FwoG',
    /(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/]{200,3000}={0,2}/,
  ],
  ['bedrock-key', 'Amazon Bedrock API key', 'ABSK', /ABSK([A-Za-z0-9+/]{100,300}={0,2})/],
  [
    'bedrock-key',
    'Amazon Bedrock API key',
    'key-',
    /bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/]{20,4000}={0,2}/,
  ],
  ['brevo-key', 'Brevo key', 'xkey xsmt', /x(?:key|smtp)sib-([0-9a-f]{64})-[A-Za-z0-9]{16}/],
  ['buildkite-token', 'Buildkite token', 'bkua', /bkua_([0-9a-f]{40})/],
  ['cerebras-key', 'Cerebras API key', 'csk-', /csk-([a-z0-9]{48})/],
  ['contentful-token', 'Contentful token', 'FPAT', /CFPAT-([\w-]{43})/],
  ['deepseek-key', 'DeepSeek API key', SK, /sk-([0-9a-f]{32})/],
  ['dynatrace-token', 'Dynatrace token', 'dt0c dt0s', /dt0[cs]\d\d\.[A-Za-z0-9]{8,24}\.([A-Za-z0-9]{64})/],
  ['elevenlabs-key', 'ElevenLabs API key', SK, /sk_([0-9a-f]{48})/],
  ['fcm-key', 'Firebase Cloud Messaging key', 'APA9', /AAAA[\w-]{7}:(APA91b[\w-]{130,200})/],
  [
    'gitlab-token',
    'GitLab token',
    'glrt gldt glft glso glff glcb glpt glim glag gloa',
    /gl(?:rt|dt|ft|soat|ffct|cbt|ptt|imt|agent|oas)-(?:[0-9a-zA-Z]{1,5}_)?([\w-]{20,64})/,
  ],
  [
    'gitlab-token',
    'GitLab token',
    'glpa glrt glcb glpt gldt glft glim gloa',
    /gl[a-z]{2,5}-[\w-]{27,300}(?:\.[0-9a-z]{2})?\.[0-9a-z]{9}/,
    endsInCrc(7, 36),
  ],
  ['langfuse-key', 'Langfuse secret key', '-lf-', new RegExp(`sk-lf-(${UUID})`)],
  ['langsmith-key', 'LangSmith API key', 'lsv2', /lsv2_(?:pt|sk)_([0-9a-f]{32})_[0-9a-f]{10}/],
  ['nvidia-key', 'NVIDIA API key', 'vapi', /nvapi-([\w-]{60,70})/],
  ['onepassword-token', '1Password service account token', 's_ey', /ops_eyJ[\w+/-]{100,4000}={0,3}/],
  ['openrouter-key', 'OpenRouter API key', '-v1-', /sk-or-v1-([0-9a-f]{64})/],
  ['openshift-token', 'OpenShift token', '256~', /sha256~([\w-]{43})/],
  ['perplexity-key', 'Perplexity API key', 'plx-', /pplx-([A-Za-z0-9]{40,64})/],
  ['pinecone-key', 'Pinecone API key', 'csk_', /pcsk_([A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,72})/],
  ['posthog-key', 'PostHog key', 'phs_ phx_', /ph[sx]_([A-Za-z0-9]{32,64})/],
  ['readme-key', 'ReadMe API key', 'dme_', /rdme_([a-z0-9]{70})/],
  ['replicate-token', 'Replicate token', /r8_[A-Za-z\d]{20}/, /r8_([A-Za-z0-9]{37})/],
  ['resend-key', 'Resend API key', /re_[A-Za-z\d]{8}_[A-Za-z\d]{16}/, /re_([A-Za-z0-9]{8}_[A-Za-z0-9]{24})/],
  ['rubygems-key', 'RubyGems API key', 'ygem', /rubygems_([0-9a-f]{48})/],
  ['sonar-token', 'Sonar token', 'sqa_ sqp_ squ_', /sq[apu]_([0-9a-f]{40})/],
  ['sourcegraph-token', 'Sourcegraph token', 'sgp_', /sgp_(?:(?:[0-9a-f]{16}|local)_)?([0-9a-f]{40})/],
  ['tavily-key', 'Tavily API key', 'vly-', /tvly-(?:[a-z]{3,4}-)?([A-Za-z0-9]{32})/],
  ['vault-token', 'HashiCorp Vault token', 'hvb. hvr. hvs.', /hv[bsr]\.([\w-]{24,300})/],
  ['xai-key', 'xAI API key', 'xai-', /xai-([A-Za-z0-9]{70,100})/],
]

export const SERVICE_RULES: readonly OwnRule[] = [
  {
    ruleId: 'azure-access-key',
    title: 'Azure access key',
    heads: ['Key='],
    pattern: /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,86}={1,2})/g,
    severity: 'high',
    secretIn: ({ 0: match, 1: secret = '' }) => ({ at: match.length - secret.length, secret }),
  },
  ...SERVICES.map(ruleOf),
]

function ruleOf([ruleId, title, needed, token, isValid = () => true]: Service): OwnRule {
  const secretIn = ({ 0: secret, 1: random }: RegExpExecArray) =>
    (random === undefined || looksRandom(random, 1)) && isValid(secret) ? { at: 0, secret } : null
  return {
    ruleId,
    title,
    ...(typeof needed === 'string' ? { heads: needed.split(' ') } : { word: needed }),
    pattern: new RegExp(`(?<![\\w.~-])${token.source}(?![\\w~-])`, 'g'),
    severity: MEDIUM.has(ruleId) ? 'medium' : 'high',
    secretIn,
  }
}

/** Whether the last digits of a token are the CRC-32 of what is before them. */
function endsInCrc(length: number, radix: number): (token: string) => boolean {
  return (token) => Number.parseInt(token.slice(-length), radix) === Bun.hash.crc32(token.slice(0, -length))
}
