import { once } from '../../base/memoize.ts'
import type { Config } from '../../config.ts'
import { localUrl } from '../../http/listen.ts'
import { stateFolder } from '../client/folders.ts'
import { keyIdOf, type Server } from '../client/server.ts'
import type { Context } from '../command/context.ts'
import { askKeyOwner, type KeyOwner } from './api-client.ts'
import { findKeyOwner, type ReadState } from './state.ts'

/** A server, and whose the key is. */
export function targetOf({ env }: Context, server: Server) {
  /** Reads the owner from the state, else from the server, which is asked at most once; `isNew`: it was asked. */
  const owner = once(async (): Promise<KeyOwner & { isNew: boolean; read?: ReadState }> => {
    const known = findKeyOwner(stateFolder(env), server.url, keyIdOf(server.key))
    return known === undefined
      ? { ...(await askKeyOwner({ server: server.url, key: server.key })), isNew: true }
      : { ...known, isNew: false }
  })
  return {
    ...{ server, owner },
    /** The address of the key's member, which never changes; null where it has none. */
    member: async () => (server.member === undefined ? (await owner()).member : server.member),
  }
}

/** The address of the dashboard that shows what was sent to the server, or written to the database of these settings. */
export function dashboardOf({ publicUrl, host, port }: Config, server: Server | undefined): string {
  const address = server?.url ?? publicUrl ?? localUrl({ host, port })
  return `${address.replace(/\/+$/, '')}/`
}
