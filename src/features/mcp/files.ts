import { grants } from '../../accounts/keys/model.ts'
import { plainPath } from '../../analysis/records/commit.ts'
import { createDomain, directoryOf } from '../../analysis/scoring/ownership.ts'
import { fileKeyOf } from '../../base/ids.ts'
import { filesInHeatmap } from '../security/heatmap-queries.ts'
import type { Expertise } from '../team/model.ts'
import { pageOfAll } from './answer.ts'
import { type Call, get } from './call.ts'
import { findFiles, findPeople, findPullRequests, type StoredFile } from './queries.ts'

/** Owners of a file in an answer. */
const MAX_OWNERS = 5
/** Domains in an answer, of all people and of each. */
const MAX_DOMAINS = 50

const plain = (paths: readonly string[]): string[] => [...new Set(paths.map(plainPath))]

/** The authors of the files with their scores, as docs/scoring.md has them for a domain, the highest first. */
const authorsOf = (files: readonly StoredFile[]) => {
  const domain = createDomain()
  for (const { creator, authors } of files) {
    if (authors.length > 0) domain.add({ creator, authors: authors.map((each) => ({ ...each, lastAt: '' })) })
  }
  return domain.result().authors.toSorted((a, b) => b.score - a.score)
}

const nameOf = ({ user_id, display_name }: { user_id: string | null; display_name: string }) =>
  user_id ?? display_name

/** The people of the route's answer who know the domains of these files, by their scores over the files themselves. */
export async function whoKnows(call: Call, given: { paths: string[]; page?: number }): Promise<object> {
  const paths = plain(given.paths)
  const { data, domains } = await get<Expertise>(call, '/v1/team/expertise')
  const files = await call.read((sql, orgId) => findFiles(sql, orgId, { paths }))
  const projects = new Set(files.map(({ project }) => project))
  const directories = new Set(paths.map(directoryOf))
  // files without a commit may be of any project
  const isAsked = ({ domain }: { domain: string }) => {
    const at = domain.lastIndexOf('/')
    return directories.has(domain.slice(at + 1)) && (files.length === 0 || projects.has(domain.slice(0, at)))
  }
  const authors = authorsOf(files)
  const people = new Map((await peopleOf(call, authors)).map((person) => [person.email, nameOf(person)]))
  const scores = new Map(authors.map(({ email, score }) => [people.get(email), score]))
  const known = data
    .map(({ domains, ...person }) => ({
      ...person,
      score: scores.get(nameOf(person)) ?? 0,
      domains: domains.filter(isAsked).slice(0, MAX_DOMAINS),
    }))
    .filter((person) => person.domains.length > 0)
    .toSorted((a, b) => b.score - a.score)
  return pageOfAll(known, given.page, { domains: domains.filter(isAsked).slice(0, MAX_DOMAINS) })
}

const peopleOf = ({ read }: Call, authors: readonly { email: string }[]) =>
  read((sql, orgId) => findPeople(sql, orgId, [...new Set(authors.map(({ email }) => email))]))

/** Findings, churn, owners and pull requests of each file, the riskiest first. */
export async function riskyFiles(
  call: Call,
  given: { paths: string[]; project?: string; page?: number },
): Promise<object> {
  const { onlyMember, scopes } = call.access
  const wanted = { paths: plain(given.paths), project: given.project }
  const [heatmap, stored, pullRequests] = await Promise.all([
    call.read((sql, orgId) => filesInHeatmap(sql, orgId, wanted.paths.map(fileKeyOf), given.project)),
    call.read((sql, orgId) => findFiles(sql, orgId, wanted)),
    grants(scopes, 'risk:read') ? call.read((sql, orgId) => findPullRequests(sql, orgId, wanted)) : undefined,
  ])
  const people = grants(scopes, 'team:read')
    ? new Map(
        (
          await peopleOf(
            call,
            stored.flatMap(({ authors }) => authors),
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
  const files = wanted.paths.map((path) => {
    const found = byPath.get(path) ?? []
    const sum = (field: 'commits' | 'additions' | 'deletions') =>
      found.reduce((total, file) => total + file[field], 0)
    return {
      path,
      heatmap: risks.get(path) ?? null,
      churn: { commits: sum('commits'), additions: sum('additions'), deletions: sum('deletions') },
      owners: people === undefined ? null : ownersOf(found),
      pull_requests: requests === undefined ? null : (requests.get(path) ?? []),
    }
  })
  const riskOf = ({ heatmap: risk }: (typeof files)[number]) => risk?.risk_score ?? 0
  files.sort((a, b) => riskOf(b) - riskOf(a) || b.churn.commits - a.churn.commits)
  return pageOfAll(files, given.page)
}
