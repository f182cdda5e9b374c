// Assembled at run time, so that no scanner reports this file.
const LETTERS = 'aB3dEfGh1jKlMn0pQrStUvWxYz0123456789aB3dEfGh1jKlMn0pQrStUvWxYz0123456789'
/** A made-up secret of each kind, by the rule that finds it. */
export const PLANTED: Record<string, string> = {
  github: `ghp_${LETTERS.slice(0, 36)}`,
  aws: `AKIA${'Z7VQ2LPMX4KRTW5N'}`,
  slack: `xoxb-${'123456789012'}-${'1234567890123'}-${LETTERS.slice(0, 24)}`,
  anthropic: `sk-ant-api03-${LETTERS.repeat(2).slice(0, 93)}AA`,
  'google-api-key': `AIza${LETTERS.slice(0, 35)}`,
  'database-connection-string': `postgres://shop:${LETTERS.slice(3, 15)}@db.internal/shop`,
  privatekey: `-----BEGIN RSA PRIVATE KEY-----\n${LETTERS}\n${LETTERS}\n-----END RSA PRIVATE KEY-----`,
  'json-web-token': `eyJhbGciOiJIUzI1NiJ9.eyJ${LETTERS.slice(0, 30)}.${LETTERS.slice(0, 43)}`,
  npm: `npm_${LETTERS.slice(0, 36)}`,
  'cloud-analytics-key': `ca_live_ab12cd34_${LETTERS.slice(0, 38)}`,
}
