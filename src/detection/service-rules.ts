import type { Severity } from '../records/finding.ts'

/** A rule of our own. */
export interface OwnRule {
  ruleId: string
  title: string
  /** Its time is linear in the text: no two starts of a match share more than a bounded number of characters. */
  pattern: RegExp
  /** Matches every text in which the rule finds something, and is faster; one object for several rules is tried once. */
  needed?: RegExp
  severity: Severity
  /** The secret inside a match, if it is not the match: its offset from the match and its text. */
  secretIn?: (match: RegExpExecArray) => { at: number; secret: string } | null
}

// 16 characters in a row are compared at once, so these search for the ends of several prefixes and what follows them:
// a search for each prefix would take three times as long as all other rules.
const UNDERSCORE = /(?:fo1|fm1|fm2|m1r|m2r|m1a|m2a|nfp|nfc|nfo|nfu|tkn|_pw|uth|ryu|rys|sbp|ret)_[\w+/=.-]{16}/
const HYPHEN = /(?:RKU|pat|key|RAK|RJS|RII|MAK|pul|atp|csp|idp|KEY)-[\w-]{16}/
const OTHER = /(?:Key=|DO00|\.[psc]t\.|\.sa\.|cim\.|dit\.|sv1\.|EAAA|oks\/)[\w+/=.-]{16}/

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/**
 * Tokens of services that the preset lacks, each with a part that nothing else has. Patterns after gitleaks (MIT).
 */
export const SERVICE_RULES: readonly OwnRule[] = [
  service(
    'azure-client-secret',
    'Azure client secret',
    /\dQ~[\w~.-]{16}/,
    '[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}',
  ),
  {
    ruleId: 'azure-access-key',
    title: 'Azure access key',
    needed: OTHER,
    pattern: /(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,86}={1,2})/g,
    severity: 'high',
    secretIn: ({ 0: match, 1: secret = '' }) => ({ at: match.length - secret.length, secret }),
  },
  service(
    'azure-devops-token',
    'Azure DevOps token',
    /[A-Za-z0-9]{16}AZDO/,
    '[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}',
  ),
  {
    ...service('digitalocean-spaces-key', 'DigitalOcean Spaces key id', OTHER, 'DO00[A-Z0-9]{16}'),
    severity: 'medium',
  },
  service(
    'doppler-token',
    'Doppler token',
    OTHER,
    'dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}',
  ),
  service('flyio-token', 'Fly.io token', UNDERSCORE, 'fo1_[\\w-]{43}'),
  service('flyio-token', 'Fly.io token', UNDERSCORE, 'fm[12][ar]?_[A-Za-z0-9+/]{60,4000}={0,3}'),
  service('terraform-token', 'Terraform token', OTHER, '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,70}'),
  service('heroku-key', 'Heroku API key', HYPHEN, 'HRKU-[\\w-]{36,60}'),
  service('hubspot-token', 'HubSpot token', HYPHEN, `pat-(?:na|eu|ap)\\d-${UUID}`),
  service('mailchimp-key', 'Mailchimp API key', /[0-9a-f]{16}-us\d/, '[0-9a-f]{32}-us\\d{1,2}'),
  service('mailgun-key', 'Mailgun key', HYPHEN, '(?:pub)?key-[0-9a-f]{32}'),
  service('netlify-token', 'Netlify token', UNDERSCORE, 'nf[pcou]_[A-Za-z0-9]{36}'),
  service('newrelic-key', 'New Relic key', HYPHEN, 'NRAK-[A-Za-z0-9]{27}'),
  service('newrelic-key', 'New Relic key', HYPHEN, 'NRJS-[a-f0-9]{19}'),
  service('newrelic-key', 'New Relic key', HYPHEN, 'NRII-[A-Za-z0-9-]{32}'),
  service('postman-key', 'Postman API key', HYPHEN, 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}'),
  service(
    'planetscale-token',
    'PlanetScale credential',
    UNDERSCORE,
    'pscale_(?:tkn|pw|oauth)_[\\w=.-]{32,64}',
  ),
  service('pulumi-token', 'Pulumi token', HYPHEN, 'pul-[0-9a-f]{40}'),
  service('sentry-token', 'Sentry token', UNDERSCORE, 'sntryu_[0-9a-f]{64}'),
  service('sentry-token', 'Sentry token', UNDERSCORE, 'sntrys_eyJ[A-Za-z0-9+/=_-]{80,500}'),
  service('square-token', 'Square token', HYPHEN, 'sq0(?:atp|csp|idp)-[\\w-]{22,43}'),
  {
    ...service('square-token', 'Square token', OTHER, 'EAAA[\\w-]{60}'),
    // base64 has such letters too
    secretIn: ({ 0: secret }) => (/\d/.test(secret) && !/AAAAA/.test(secret) ? { at: 0, secret } : null),
  },
  service('supabase-token', 'Supabase key', UNDERSCORE, 'sbp_[0-9a-f]{40}'),
  service('supabase-token', 'Supabase key', UNDERSCORE, 'sb_secret_[\\w-]{31,40}'),
  service('telegram-token', 'Telegram bot token', /:A[\w-]{16}/, '\\d{5,16}:A[\\w-]{34}'),
  service('twilio-key', 'Twilio API key', /SK[0-9a-f]{16}/, 'SK[0-9a-f]{32}'),
  service(
    'discord-token',
    'Discord bot token',
    /\.[GXYZ][\w-]{5}\.[\w-]{16}/,
    '[MNO][ADEIMQTUYcgjkwxyz][A-Za-z0-9]{21,25}\\.[GXYZ][\\w-]{5}\\.[\\w-]{27,38}',
  ),
  service(
    'discord-webhook',
    'Discord webhook',
    OTHER,
    'discord(?:app)?\\.com/api/webhooks/\\d{17,20}/[\\w-]{60,80}',
  ),
  service(
    'age-secret-key',
    'age secret key',
    HYPHEN,
    'AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}',
  ),
]

/** A rule for a token that stands alone: neither before nor behind it is a character that it may have. */
function service(ruleId: string, title: string, needed: RegExp, token: string): OwnRule {
  const pattern = new RegExp(`(?<![\\w.~-])${token}(?![\\w~-])`, 'g')
  return { ruleId, title, needed, pattern, severity: 'high' }
}
