// Finds the project, repository and branch of a session from its folder.

import { type FindRepository, nameOfRemote } from '../git/project-name.ts'
import { folderName, isPartOf, pathsIn } from './paths.ts'
import { byFirstUse, type Transcript } from './transcript.ts'

export type ProjectFrom = 'repository' | 'folder'

/** The place where a session worked. */
export interface Workspace {
  project: string
  /** Whether the name is that of a repository: it counts rather than that of a folder. */
  isOfRepository: boolean
  /** A path of it relative to the root of its repository, with `/`: see `pathsIn`. */
  pathOf: (path: string) => string
}

/**
 * The workspace of a complete transcript. The project is that of the folder in which the session began. Repositories of this
 * machine come first; what the agent recorded counts where the folder is not there or in none.
 */
export function workspaceOf(
  { folders, repository }: Pick<Transcript, 'folders' | 'repository'>,
  find: FindRepository,
  from: ProjectFrom = 'repository',
): Workspace {
  const used = byFirstUse(folders)
  const first = used[0]
  const repositoryOf = (folder: string) => find(folder) ?? find(withoutWorktree(folder))
  const repositories =
    from === 'folder' ? null : [first, repository].map((at) => (at ? repositoryOf(at) : null))
  const recorded = repository === null ? null : nameOfRemote(repository)
  const ofFolder = first === undefined ? '' : folderName(withoutWorktree(first))
  const roots = used.flatMap((folder) => {
    const isRoot = find(folder) === null && !used.some((other) => isPartOf(folder, other))
    return [...(isRoot ? [folder] : []), ...(repositoryOf(folder)?.roots ?? [])]
  })
  const ofRepository = repositories?.find((at) => at !== null)?.name ?? recorded
  return {
    project: (ofRepository ?? ofFolder) || 'unknown',
    isOfRepository: ofRepository !== null,
    pathOf: pathsIn({ base: first, roots }),
  }
}

/** The folder of the repository where the folder's path says that it is in a linked worktree. */
export const withoutWorktree = (folder: string): string =>
  folder.replace(/[/\\](?:\.claude[/\\])?\.?worktrees[/\\].*$/, '')
