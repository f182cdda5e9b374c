/** Words of examples: a value with one is none that anybody uses. */
const PLACEHOLDER =
  /your|x{4}|example|placeholder|change.?me|dummy|fake|sample|redacted|masked|replace|insert|todo|secret|password|passwd|token|mock|foobar|array|default|invalid|local|demo|test|abcdef|012345|123456|987654|qwerty|lorem|\.{3}|\*{3}|(.)\1{4}/i

/** A UUID is no word, hexadecimal digits are few. */
const HEX = /^[0-9a-f-]+$/i

/** Whether a value looks random: letters and digits, no word of an example, and enough bits per character. */
export function looksRandom(value: string, minLength: number): boolean {
  if (value.length < minLength || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false
  if (PLACEHOLDER.test(value)) return false
  const bits = entropyOf(value)
  if (HEX.test(value)) return bits >= 3
  return bits >= Math.min(3.5, Math.log2(value.length) - 0.5)
}

/** Shannon's entropy of the characters, in bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
