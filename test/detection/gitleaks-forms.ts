// Made-up secrets in the forms that gitleaks knows, assembled at run time, so that no scanner reports this file.

const ALPHABETS = {
  hex: '0123456789abcdef',
  alnum: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  lower: 'abcdefghijklmnopqrstuvwxyz0123456789',
  digits: '123456789',
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
} as const

/** Characters of the alphabet, the same for the same seed. */
function chars(alphabet: keyof typeof ALPHABETS, length: number, seed: string): string {
  const letters = ALPHABETS[alphabet]
  let text = ''
  for (let n = 0; text.length < length; n += 1) {
    for (const byte of new Bun.CryptoHasher('sha512').update(`${seed} ${n}`).digest())
      text += letters.charAt(byte % letters.length)
  }
  return text.slice(0, length)
}

const hex = (length: number, seed = 'a') => chars('hex', length, seed)
const alnum = (length: number, seed = 'b') => chars('alnum', length, seed)
const upper = (length: number, seed = 'c') => chars('upper', length, seed)
const uuid = (seed = 'd') => hex(32, seed).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** By name: a text, and the secret in it. */
export const GITLEAKS_FORMS: Record<string, { text: string; secret: string }> = Object.fromEntries(
  (
    [
      ['Azure client secret', `${alnum(3)}8Q~${alnum(31)}`],
      [
        'Azure storage key',
        `${alnum(86)}==`,
        'DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=',
        ';',
      ],
      ['Azure DevOps token', `${alnum(76)}AZDO${alnum(4)}`],
      ['DigitalOcean token', `dop_v1_${hex(64)}`],
      ['DigitalOcean Spaces key id', `DO00${upper(16)}`],
      ['DigitalOcean Spaces secret', alnum(43), 'SPACES_SECRET_ACCESS_KEY='],
      ['Doppler personal token', `dp.pt.${alnum(43)}`],
      ['Doppler service token', `dp.st.dev_eu.${alnum(43)}`],
      ['Fly.io access token', `fo1_${alnum(43)}`],
      ['Fly.io macaroon', `fm2_${alnum(120)}`, 'FlyV1 '],
      ['Terraform Cloud token', `${alnum(14)}.atlasv1.${alnum(67)}`],
      ['Heroku key, new form', `HRKU-AA${alnum(58)}`],
      ['Heroku key', uuid(), 'HEROKU_API_KEY='],
      ['HubSpot private app token', `pat-na1-${uuid()}`],
      ['HubSpot key', uuid('e'), 'hubspot_api_key = "', '"'],
      ['Mailchimp key', `${hex(32)}-us12`],
      ['Mailgun key', `key-${hex(32)}`],
      ['Mailgun signing key', `${hex(32)}-${hex(8)}-${hex(8, 'z')}`, "mailgun_signing_key: '", "'"],
      ['Netlify token', `nfp_${alnum(36)}`],
      ['Netlify token, old form', alnum(43, 'f'), 'NETLIFY_AUTH_TOKEN='],
      ['New Relic user key', `NRAK-${upper(27)}`],
      ['New Relic browser key', `NRJS-${hex(19)}`],
      ['New Relic insert key', `NRII-${alnum(32)}`],
      ['Postman key', `PMAK-${hex(24)}-${hex(34)}`],
      ['PlanetScale token', `pscale_tkn_${alnum(43)}`],
      ['PlanetScale password', `pscale_pw_${alnum(43)}`],
      ['Pulumi token', `pul-${hex(40)}`],
      ['Sentry user token', `sntryu_${hex(64)}`],
      ['Sentry organization token', `sntrys_eyJ${alnum(100)}_${alnum(43)}`],
      ['Snyk token', uuid('g'), 'SNYK_TOKEN: '],
      ['Square access token', `EAAA${alnum(60)}`],
      ['Square OAuth secret', `sq0csp-${alnum(43)}`],
      ['Supabase personal token', `sbp_${hex(40)}`],
      ['Supabase secret key', `sb_secret_${alnum(31)}`],
      ['Telegram bot token', `${chars('digits', 10, 'h')}:AA${alnum(33)}`],
      ['Twilio API key', `SK${hex(32)}`],
      ['Twilio auth token', hex(32, 'i'), 'twilio_auth_token="', '"'],
      ['Vercel token', alnum(24, 'j'), 'VERCEL_TOKEN='],
      ['Discord bot token', `MTA${alnum(23)}.G${alnum(5)}.${alnum(38)}`],
      ['Discord client secret', alnum(32, 'k'), 'DISCORD_CLIENT_SECRET='],
      ['Discord webhook', `discord.com/api/webhooks/${chars('digits', 18, 'l')}/${alnum(68)}`, 'https://'],
      ['Redis URL', `redis://:${alnum(20)}@cache.internal:6379`, 'REDIS_URL=', '/0'],
      ['Redis URL over TLS', `rediss://app:${alnum(20, 'm')}@cache.internal:6380`],
      ['value in .env', alnum(40, 'n'), 'SESSION_SECRET='],
      ['password in .env', `p9${alnum(10, 'o')}!`, 'export DB_PASSWORD="', '"'],
      ['quoted value in JSON', alnum(32, 'p'), '{\\"api_key\\": \\"', '\\"}'],
      ['bearer token', alnum(40, 'q'), "curl -H 'Authorization: Bearer ", "' https://api.internal"],
      ['age secret key', `AGE-SECRET-KEY-1${chars('bech32', 58, 'r')}`],
      ['GitHub token', `ghp_${alnum(36)}`],
      ['GitLab token', `glpat-${alnum(20)}`],
      ['Slack bot token', `xoxb-${chars('digits', 12, 's')}-${chars('digits', 13, 't')}-${alnum(24)}`],
      ['npm token', `npm_${alnum(36)}`],
      ['Google API key', `AIza${alnum(35)}`],
      ['Hugging Face token', `hf_${chars('alnum', 60, 'u').replace(/\d/g, '').padEnd(34, 'Q').slice(0, 34)}`],
    ] satisfies [name: string, secret: string, before?: string, after?: string][]
  ).map(([name, secret, before = 'value: ', after = '']) => [
    name,
    { text: `first line\n${before}${secret}${after}\n`, secret },
  ]),
)
