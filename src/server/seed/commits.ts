// Makes up plausible commits in order of time: most change a few existing files, some add, rename or delete one.

import type { CommitRecord } from '../../analysis/records/commit.ts'
import { addDays, DAY_MS } from '../../base/dates.ts'
import { addressOf, MEMBERS, projectName, type Random, randomFrom, type SeedPlan } from './generate.ts'

const DIRECTORIES = ['src', 'test', 'docs', 'web', '.'] as const

export function* generateCommits({ commits = 0, ...plan }: SeedPlan): Generator<CommitRecord> {
  const random = randomFrom(plan.seed)
  const filesOf = new Map<string, string[]>()
  const first = Date.parse(addDays(plan.today, -plan.days))
  for (let index = 0; index < commits; index += 1) {
    const project = projectName(random.below(plan.projects))
    const files = filesOf.get(project) ?? []
    filesOf.set(project, files)
    const author = Math.floor(random() ** 2 * MEMBERS)
    const changed = new Map<string, CommitRecord['files'][number]>()
    for (let left = 1 + Math.floor(random() ** 3 * 8); left > 0; left -= 1) {
      const file = madeChange(files, `${index}-${left}`, random, changed)
      if (file !== undefined) changed.set(file.path, file)
    }
    yield {
      type: 'commit',
      project,
      sha: new Bun.CryptoHasher('sha1').update(`${plan.seed} ${index}`).digest('hex'),
      author_email: addressOf(author),
      author_name: `Developer ${1 + author}`,
      committed_at: new Date(
        first + Math.floor(((index + random()) / commits) * plan.days * DAY_MS),
      ).toISOString(),
      subject: `Change ${changed.size} files`,
      files: [...changed.values()],
    }
  }
}

/** A change to one of `files`, which it updates; undefined if the commit has changed that file already. */
function madeChange(
  files: string[],
  name: string,
  { below, pick }: Random,
  changed: ReadonlyMap<string, unknown>,
): CommitRecord['files'][number] | undefined {
  const lines = { additions: 1 + below(60), deletions: below(20) }
  const directory = pick(DIRECTORIES)
  const fresh = directory === '.' ? `file-${name}.ts` : `${directory}/module-${below(40)}/file-${name}.ts`
  const kind = below(100)
  if (files.length === 0 || kind < 15) {
    files.push(fresh)
    return { path: fresh, status: 'added', ...lines, deletions: 0 }
  }
  const index = below(files.length)
  const path = files[index] ?? fresh
  if (changed.has(path)) return undefined
  if (kind < 18) {
    files.splice(index, 1, fresh)
    return { path: fresh, previous_path: path, status: 'renamed', ...lines }
  }
  if (kind < 22) {
    files.splice(index, 1)
    return { path, status: 'deleted', additions: 0, deletions: lines.additions }
  }
  return { path, status: 'modified', ...lines }
}
