// Lists the authors of a repository's commits, with their addresses.

import { asciiLower } from '../../../base/text.ts'
import { type Git, runGit } from './run-git.ts'

export interface Author {
  name: string
  email: string
}

/** The authors of the current branch, each name with each address once, `.mailmap` applied. */
export async function listAuthors(git: Git): Promise<Author[]> {
  const { code, output } = await runGit(git, ['log', '--format=%aN%x00%aE', 'HEAD'])
  if (code !== 0) return []
  return [...new Set(output.split('\n'))].flatMap((line) => {
    const [name, email] = line.split('\0')
    return name === undefined || email === undefined ? [] : [{ name, email }]
  })
}

/** GitHub replaces an address that its user hides by this: `123+login@…`, for old accounts `login@…`. */
const NOREPLY = /^(?:\d+\+)?[a-z\d][a-z\d-]*@users\.noreply\.github\.com$/i

export const isNoreply = (email: string): boolean => NOREPLY.test(email.trim())

/** The name as it is compared: without case, white space as one space. */
export const nameKey = (name: string): string => name.trim().replace(/\s+/g, ' ').toLowerCase()

/**
 * The address of each author, by `nameKey`, to whom commits with a noreply address of GitHub belong: of a full name (two
 * words or more) with one login and one other address, which nobody else has. Any other name says too little: two people
 * may share it, and several people an address.
 */
export function addressesByName(authors: readonly Author[]): Map<string, string> {
  const full = authors
    .map(({ name, email }) => ({ name: nameKey(name), email: asciiLower(email.trim()) }))
    .filter(({ name, email }) => name.includes(' ') && email !== '')
  const namesOf = new Map<string, Set<string>>()
  for (const { name, email } of authors) {
    const key = asciiLower(email.trim())
    namesOf.set(key, (namesOf.get(key) ?? new Set()).add(nameKey(name)))
  }
  const result = new Map<string, string>()
  for (const [name, group] of Map.groupBy(full, (author) => author.name)) {
    const emails = [...new Set(group.map(({ email }) => email))]
    const [address, ...more] = emails.filter((email) => !isNoreply(email))
    const logins = new Set(emails.filter(isNoreply).map((email) => email.replace(/^\d+\+/, '')))
    if (address === undefined || more.length > 0 || logins.size !== 1) continue
    if (namesOf.get(address)?.size === 1) result.set(name, address)
  }
  return result
}
