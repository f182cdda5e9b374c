// Makes up findings.

import type { FindingRecord } from '../../analysis/records/finding.ts'

const RULES = {
  'aws-access-key': ['secret', 'critical', 'AWS access key'],
  'private-key': ['secret', 'critical', 'Private key'],
  'download-to-shell': ['command', 'high', 'Downloaded script run by a shell'],
  'git-force-push': ['command', 'high', 'Forced git push'],
  'git-no-verify': ['command', 'medium', 'Hooks skipped with git'],
  'world-writable': ['command', 'medium', 'File made writable for everyone'],
  'git-discard': ['command', 'low', 'Uncommitted work discarded'],
  sudo: ['command', 'low', 'Command run as another user'],
} as const
export type Rule = keyof typeof RULES

export function findingOf(
  rule_id: Rule,
  file: string,
  place: Pick<FindingRecord, 'turn_number' | 'fingerprint'>,
): FindingRecord {
  const [category, severity, title] = RULES[rule_id]
  return { rule_id, category, severity, title, file, ...place }
}

/** The same rule in the same file is the same finding. */
export const demoFinding = (rule: Rule, file: string, turn_number: number): FindingRecord =>
  findingOf(rule, file, { turn_number, fingerprint: `demo-${rule}-${file}` })
