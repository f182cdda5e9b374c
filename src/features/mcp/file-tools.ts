// Answers the tools for agents about files: who knows them, which of them are risky.

import { grants } from '../../accounts/keys/rights.ts'
import { plainPath } from '../../analysis/records/commit.ts'
import { fileKeyOf } from '../../base/ids.ts'
import { findFiles, findPeople, type StoredFile } from '../members/file-queries.ts'
import type { Expertise } from '../members/team-model.ts'
import { authorsOf, whoKnows } from '../members/who-knows.ts'
import { filesInHeatmap } from '../security/heatmap-queries.ts'
import { pageOfAll } from './answer.ts'
import { type Call, get } from './call.ts'
import { findPullRequests } from './pull-request-queries.ts'

const MAX_OWNERS = 5
const MAX_DOMAINS = 50

const plain = (paths: readonly string[]): string[] => [...new Set(paths.map(plainPath))]

/** The people of the route's answer who know the domains of these files, by their scores over the files themselves. */
export async function whoKnowsFiles(call: Call, args: { paths: string[]; page?: number }): Promise<object> {
  const expertise = await get<Expertise>(call, '/v1/team/expertise')
  const { data, domains } = await call.read((sql, orgId) =>
    whoKnows(sql, orgId, expertise, plain(args.paths)),
  )
  const few = data.map((person) => ({ ...person, domains: person.domains.slice(0, MAX_DOMAINS) }))
  return pageOfAll(few, args.page, { domains: domains.slice(0, MAX_DOMAINS) })
}

/** Findings, churn, owners and pull requests of each file, the riskiest first. */
export async function riskyFiles(call: Call, args: { paths: string[]; project?: string; page?: number }) {
  const { onlyMember, scopes } = call.access
  const filter = { paths: plain(args.paths), project: args.project }
  const [heatmap, stored, pullRequests] = await Promise.all([
    call.read((sql, orgId) => filesInHeatmap(sql, orgId, filter.paths.map(fileKeyOf), args.project)),
    call.read((sql, orgId) => findFiles(sql, orgId, filter)),
    grants(scopes, 'risk:read') ? call.read((sql, orgId) => findPullRequests(sql, orgId, filter)) : undefined,
  ])
  const people = grants(scopes, 'team:read')
    ? new Map(
        (
          await call.read((sql, orgId) =>
            findPeople(sql, orgId, [
              ...new Set(stored.flatMap(({ authors }) => authors.map(({ email }) => email))),
            ]),
          )
        ).map((one) => [one.email, one]),
      )
    : undefined
  const ownersOf = (files: readonly StoredFile[]) =>
    authorsOf(files)
      .filter(({ filesOwned }) => filesOwned > 0)
      .flatMap(({ email, score }) => {
        const { user_id = null, display_name = '' } = people?.get(email) ?? {}
        return onlyMember === null || user_id === onlyMember.id ? [{ user_id, display_name, score }] : []
      })
      .slice(0, MAX_OWNERS)
  const risks = new Map(heatmap.map((file) => [file.file, file]))
  const byPath = Map.groupBy(stored, ({ path }) => path)
  const requests = pullRequests && new Map(pullRequests.map(({ path, found }) => [path, found]))
  const files = filter.paths.map((path) => {
    const requestsOfPath = byPath.get(path) ?? []
    const sum = (field: 'commits' | 'additions' | 'deletions') =>
      requestsOfPath.reduce((total, file) => total + file[field], 0)
    return {
      path,
      heatmap: risks.get(path) ?? null,
      churn: { commits: sum('commits'), additions: sum('additions'), deletions: sum('deletions') },
      owners: people === undefined ? null : ownersOf(requestsOfPath),
      pull_requests: requests === undefined ? null : (requests.get(path) ?? []),
    }
  })
  const riskOf = ({ heatmap: risk }: (typeof files)[number]) => risk?.risk_score ?? 0
  files.sort((a, b) => riskOf(b) - riskOf(a) || b.churn.commits - a.churn.commits)
  return pageOfAll(files, args.page)
}
