// Names the people who know a file, with their scores.

import { createDomain, directoryOf } from '../../analysis/scoring/ownership.ts'
import type { Sql } from '../../database/client.ts'
import { findFiles, findNamed, findPeople, type StoredFile } from './file-queries.ts'
import type { Expertise } from './team-model.ts'

/** The authors of the files with their scores, as docs/scoring.md has them for a domain, the highest first. */
export const authorsOf = (files: readonly StoredFile[]) => {
  const domain = createDomain()
  for (const { creator, authors } of files)
    if (authors.length > 0) domain.add({ creator, authors: authors.map((each) => ({ ...each, lastAt: '' })) })
  return domain.result().authors.toSorted((a, b) => b.score - a.score)
}

const userName = ({ user_id, display_name }: { user_id: string | null; display_name: string }) =>
  user_id ?? display_name

/** The people and domains of `expertise` that these files are of, with each person's score over the files themselves. */
export async function whoKnows(
  sql: Sql,
  orgId: string,
  { data, domains }: Expertise,
  paths: string[],
): Promise<Expertise> {
  const files = await findFiles(sql, orgId, { paths })
  const projects = new Set(files.map(({ project }) => project))
  const directories = new Set(paths.map(directoryOf))
  // files without a commit may be of any project
  const isAsked = ({ domain }: { domain: string }) => {
    const at = domain.lastIndexOf('/')
    return directories.has(domain.slice(at + 1)) && (files.length === 0 || projects.has(domain.slice(0, at)))
  }
  const authors = authorsOf(files)
  const persons = await findPeople(sql, orgId, [...new Set(authors.map(({ email }) => email))])
  const people = new Map(persons.map((person) => [person.email, userName(person)]))
  const scores = new Map(authors.map(({ email, score }) => [people.get(email), score]))
  const experts = data
    .map(({ domains, ...person }) => ({
      ...person,
      score: scores.get(userName(person)) ?? 0,
      domains: domains.filter(isAsked),
    }))
    .filter((person) => person.domains.length > 0)
    .toSorted((a, b) => b.score - a.score)
  return { data: experts, domains: domains.filter(isAsked) }
}

/** Who knows the file, or the files of any folder that a bare name may mean. */
export async function whoKnowsPath(sql: Sql, orgId: string, expertise: Expertise, path: string) {
  const files = path.includes('/') ? [] : await findNamed(sql, orgId, path)
  if (files.length === 0) return await whoKnows(sql, orgId, expertise, [path])
  return { ...(await whoKnows(sql, orgId, expertise, files)), files }
}
