// The command `pr`: sends a pull request, and shows its risk and cost as Markdown or as a comment.

import { appendFileSync } from 'node:fs'
import type { PrRiskRecord } from '../../analysis/records/risk.ts'
import { messageOf, OperatorError } from '../../base/errors.ts'
import type { RiskDetail, RiskScore } from '../../features/risk/model.ts'
import { bodyOf } from '../client/ask-server.ts'
import { getServer, type ServerOptions } from '../client/find-server.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { type Access, refusal, request } from '../sync/api-client.ts'
import { putComment } from './comment.ts'
import { markdownOf } from './markdown.ts'
import { describedPullRequest, type PullRequestFlags } from './pull-request.ts'
import { recordOf } from './pull-request-record.ts'

export async function pullRequest(
  context: Context,
  options: ServerOptions & PullRequestFlags & { failOn?: 'high' | 'critical'; comment?: true },
): Promise<void> {
  const { env } = context
  const described = describedPullRequest(env, options)
  if (options.comment && described.discussion === undefined)
    throw new OperatorError('--comment needs a job of GitHub Actions or GitLab CI', 2)
  const record = await recordOf(process.cwd(), described)
  const { url: server, key } = getServer(env, options)
  const access = { server, key }
  await send(access, record)
  const risk = await findRisk(access, record)
  const text = markdownOf(risk)
  await printResult(context.json, risk, text)
  writeSummary(env.GITHUB_STEP_SUMMARY, text)
  if (options.comment && described.discussion !== undefined) await putComment(described.discussion, text)
  const isFailing = risk.rating === 'critical' || risk.rating === options.failOn
  if (options.failOn !== undefined && isFailing)
    throw new OperatorError(`the risk is ${risk.risk_score} (${risk.rating}): --fail-on ${options.failOn}`)
}

async function send(access: Access, record: PrRiskRecord): Promise<void> {
  const answer = await request(`${access.server}/v1/sync`, access, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ records: [record] }),
  })
  if (!answer.ok) throw refusal(access.server, answer)
}

/** The risk of the pull request: the list is searched for its id, which another program may have given. */
async function findRisk(access: Access, { repo, pr_number }: PrRiskRecord): Promise<RiskDetail> {
  const get = async <Body>(path: string): Promise<Body> => {
    const answer = await request(`${access.server}/v1${path}`, access, {})
    if (!answer.ok) throw refusal(access.server, answer)
    return bodyOf(answer) as Body
  }
  for (let page = 1; ; page += 1) {
    const query = new URLSearchParams({ repo, per_page: '100', page: String(page) })
    const { data = [] } = await get<{ data?: RiskScore[] }>(`/risk?${query}`)
    const entry = data.find((risk) => risk.pr_number === pr_number)
    if (entry !== undefined) return await get<RiskDetail>(`/risk/${entry.id}`)
    if (data.length < 100) throw new OperatorError(`${access.server} does not know ${repo}#${pr_number}`)
  }
}

/** Adds the text to the page of the job; a page that cannot be written fails nothing. */
function writeSummary(path: string | undefined, text: string): void {
  if (!path) return
  try {
    appendFileSync(path, `${text}\n`)
  } catch (error) {
    printMessage(`warning: GITHUB_STEP_SUMMARY cannot be written: ${messageOf(error)}`)
  }
}
