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

/**
 * The ends of prefixes and what follows them. 16 characters in a row are compared at once: one search for all of them takes a
 * quarter of the time of three.
 */
const PREFIX =
  /(?:(?:fo1|fm1|fm2|m1r|m2r|m1a|m2a|nfp|nfc|nfo|nfu|tkn|_pw|uth|ryu|rys|sbp|ret)_|(?:RKU|pat|key|RAK|RJS|RII|MAK|pul|atp|csp|idp|KEY)-|Key=|DO00|\.[psc]t\.|\.sa\.|cim\.|dit\.|sv1\.|EAAA|oks\/)[\w+/=.-]{16}/

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
    needed: PREFIX,
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
    ...service('digitalocean-spaces-key', 'DigitalOcean Spaces key id', PREFIX, 'DO00[A-Z0-9]{16}'),
    severity: 'medium',
  },
  service(
    'doppler-token',
    'Doppler token',
    PREFIX,
    'dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}',
  ),
  service('flyio-token', 'Fly.io token', PREFIX, 'fo1_[\\w-]{43}'),
  service('flyio-token', 'Fly.io token', PREFIX, 'fm[12][ar]?_[A-Za-z0-9+/]{60,4000}={0,3}'),
  service('terraform-token', 'Terraform token', PREFIX, '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,70}'),
  service('heroku-key', 'Heroku API key', PREFIX, 'HRKU-[\\w-]{36,60}'),
  service('hubspot-token', 'HubSpot token', PREFIX, `pat-(?:na|eu|ap)\\d-${UUID}`),
  service('mailchimp-key', 'Mailchimp API key', /[0-9a-f]{16}-us\d/, '[0-9a-f]{32}-us\\d{1,2}'),
  service('mailgun-key', 'Mailgun key', PREFIX, '(?:pub)?key-[0-9a-f]{32}'),
  service('netlify-token', 'Netlify token', PREFIX, 'nf[pcou]_[A-Za-z0-9]{36}'),
  service('newrelic-key', 'New Relic key', PREFIX, 'NRAK-[A-Za-z0-9]{27}'),
  service('newrelic-key', 'New Relic key', PREFIX, 'NRJS-[a-f0-9]{19}'),
  service('newrelic-key', 'New Relic key', PREFIX, 'NRII-[A-Za-z0-9-]{32}'),
  service('postman-key', 'Postman API key', PREFIX, 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}'),
  service('planetscale-token', 'PlanetScale credential', PREFIX, 'pscale_(?:tkn|pw|oauth)_[\\w=.-]{32,64}'),
  service('pulumi-token', 'Pulumi token', PREFIX, 'pul-[0-9a-f]{40}'),
  service('sentry-token', 'Sentry token', PREFIX, 'sntryu_[0-9a-f]{64}'),
  service('sentry-token', 'Sentry token', PREFIX, 'sntrys_eyJ[A-Za-z0-9+/=_-]{80,500}'),
  service('square-token', 'Square token', PREFIX, 'sq0(?:atp|csp|idp)-[\\w-]{22,43}'),
  {
    ...service('square-token', 'Square token', PREFIX, 'EAAA[\\w-]{60}'),
    // base64 has such letters too
    secretIn: ({ 0: secret }) => (/\d/.test(secret) && !/AAAAA/.test(secret) ? { at: 0, secret } : null),
  },
  service('supabase-token', 'Supabase key', PREFIX, 'sbp_[0-9a-f]{40}'),
  service('supabase-token', 'Supabase key', PREFIX, 'sb_secret_[\\w-]{31,40}'),
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
    PREFIX,
    'discord(?:app)?\\.com/api/webhooks/\\d{17,20}/[\\w-]{60,80}',
  ),
  service(
    'age-secret-key',
    'age secret key',
    PREFIX,
    'AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}',
  ),
]

/** A rule for a token that stands alone: neither before nor behind it is a character that it may have. */
function service(ruleId: string, title: string, needed: RegExp, token: string): OwnRule {
  const pattern = new RegExp(`(?<![\\w.~-])${token}(?![\\w~-])`, 'g')
  return { ruleId, title, needed, pattern, severity: 'high' }
}
