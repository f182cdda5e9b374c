// Sentences of the page of a session on what it did, and what would raise its score.

import type { QualityMetadata, SessionDetail } from '../../features/sessions/model.ts'
import { capital, countOf, formatDuration, formatWhole } from '../client/format.ts'

export const saidOutcome = (count: number) =>
  count > 0 ? 'ended with a commit or passing tests' : 'did not end with a commit or passing tests'

/** Tools that a sentence names. */
const NAMED = 3

/** `In 25 min on fix/saml it worked on 12 files, src/auth/login.go first, and called tools 61 times (Edit 23, Bash 20), 3 of which failed`. */
export function didOf(session: SessionDetail): string {
  const { duration_seconds, branch, pull_requests, files_touched, tools_used, quality_metadata } = session
  const [file] = files_touched ?? []
  const used = tools_used.toSorted((one, other) => other.calls - one.calls)
  const [calls, errors] = [toolSum(used, 'calls'), toolSum(used, 'errors')]
  const others = used.length > NAMED ? ' …' : ''
  const names = used.slice(0, NAMED).map((one) => `${one.name} ${formatWhole(one.calls)}`)
  const ended = quality_metadata.factors.find(({ name }) => name === 'outcome')
  const findings = session.security_metadata.findings.filter(({ status }) => status === 'open').length
  const opened = pull_requests?.map(({ repo, number }) => `${repo}#${number}`) ?? []
  const parts = [
    duration_seconds === null ? '' : `in ${formatDuration(duration_seconds)} `,
    branch === null ? 'it ' : `on ${branch} it `,
    file === undefined
      ? ''
      : `worked on ${countOf(files_touched?.length ?? 0, 'file')}, ${file}${files_touched?.length === 1 ? '' : ' first'}, and `,
    calls === 0
      ? 'called no tool'
      : `called tools ${countOf(calls, 'time')} (${names.join(', ')}${others}), ${errors === 0 ? 'none of which failed' : `${formatWhole(errors)} of which failed`}`,
    opened.length > 0 ? `; pull request ${opened.join(', ')}` : '',
    ended === undefined ? '' : `. It ${saidOutcome(ended.count)}`,
    session.landed === null
      ? ''
      : `; its commits ${session.landed ? (session.reverted ? 'landed and were reverted' : 'landed') : 'have not landed'}`,
    findings === 0
      ? '. Nothing was found in it.'
      : `. ${countOf(findings, 'finding')} of it ${findings === 1 ? 'is' : 'are'} open.`,
  ]
  return capital(parts.join(''))
}

const toolSum = (tools: SessionDetail['tools_used'], field: 'calls' | 'errors') =>
  tools.reduce((sum, one) => sum + one[field], 0)

export type Factor = QualityMetadata['factors'][number]

/** Says what raises the score, if the factor lowers it or does not add all that it could. */
const RAISING: Readonly<Record<string, string>> = {
  tool_errors: 'fewer failed tool calls',
  rejections: 'fewer refusals',
  interruptions: 'fewer interruptions',
  rework: 'fewer edits of the same file',
  api_errors: 'fewer errors of the model’s service',
  compactions: 'a context that does not fill up',
  outcome: 'a commit or passing tests at the end',
  clean_tool_use: 'fewer failed tool calls',
}

/** The score gains this much if the factor is at its best. */
const gainOf = ({ weight, points }: Factor): number => Math.max(0, Math.max(0, weight) - points)

/** Finds what would raise the score most, with how much. Without a failed call, clean tool use lacks only more calls. */
export function raisingOf(factors: readonly Factor[]): (readonly [what: string, gain: number])[] {
  const hasFailed = factors.some(({ name, count }) => name === 'tool_errors' && count > 0)
  const gains = new Map<string, number>()
  for (const factor of factors) {
    const what = RAISING[factor.name]
    if (what !== undefined && (hasFailed || factor.name !== 'clean_tool_use'))
      gains.set(what, (gains.get(what) ?? 0) + gainOf(factor))
  }
  return [...gains]
    .filter(([, gain]) => gain >= 1)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3)
}
