/** The fingerprint of a finding: the first 16 hex digits of SHA-256 over the rule, a line feed and `subject`. */
export const fingerprintOf = (ruleId: string, subject: string): string =>
  new Bun.CryptoHasher('sha256').update(`${ruleId}\n${subject}`).digest('hex').slice(0, 16)
