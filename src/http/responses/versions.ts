/**
 * The version that an organization's data has now, or had at some moment after the call. Rejects when the database cannot
 * be asked, and for an organization that is not there.
 */
export type ReadVersion = (orgId: string) => Promise<string>

/** The versions of the organizations with these ids, by id. */
export type FindVersions = (orgIds: readonly string[]) => Promise<ReadonlyMap<string, string>>

interface Batch {
  orgIds: Set<string>
  found: PromiseWithResolvers<ReadonlyMap<string, string>>
}

/**
 * One statement at a time reads the versions for all requests that arrived while the one before ran. It begins after they
 * arrived, so that whatever was committed before a request arrived is in the version that the request is given.
 */
export function createVersionReader(find: FindVersions): ReadVersion {
  let waiting: Batch | undefined
  let isRunning = false

  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

  const run = async (): Promise<void> => {
    isRunning = true
    do {
      // requests that arrive in the same turn of the event loop go together
      await nextTurn()
      const batch = waiting
      if (batch === undefined) break
      waiting = undefined
      try {
        batch.found.resolve(await find([...batch.orgIds]))
      } catch (error) {
        batch.found.reject(error)
      }
    } while (waiting !== undefined)
    isRunning = false
  }

  return async (orgId) => {
    waiting ??= { orgIds: new Set(), found: Promise.withResolvers() }
    waiting.orgIds.add(orgId)
    const { promise } = waiting.found
    if (!isRunning) void run()
    const version = (await promise).get(orgId)
    if (version === undefined) throw new Error(`organization ${orgId} has no version`)
    return version
  }
}
