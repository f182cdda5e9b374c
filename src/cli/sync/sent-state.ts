import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** What a server was sent: id of a session or commit → hash of its record. */
export interface SentState {
  hashOf(id: string): string | undefined
  /** Adds these and writes the file; an empty id is left out. */
  keep(sent: readonly { id: string; hash: string }[]): void
}

/** The hash of a record's JSON text. */
export const hashOf = (text: string): string => Bun.hash.xxHash3(text).toString(36)

/**
 * The state for a server and a key's id, in `$XDG_STATE_HOME/cloud-analytics` or
 * `~/.local/state/cloud-analytics`. A file that is missing or damaged is an empty state: then everything is
 * sent, which changes nothing at the server.
 */
export function openSentState(server: string, keyId: string): SentState {
  const folder = join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'cloud-analytics')
  const name = new Bun.CryptoHasher('sha256')
    .update(`${new URL(server).href} ${keyId}`)
    .digest('hex')
    .slice(0, 32)
  const path = join(folder, `sent-${name}.json`)
  const hashes = readHashes(path)
  return {
    hashOf: (id) => hashes.get(id),
    keep(sent) {
      for (const { id, hash } of sent) if (id !== '') hashes.set(id, hash)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const temporary = `${path}.${process.pid}`
      writeFileSync(temporary, JSON.stringify(Object.fromEntries(hashes)), { mode: 0o600 })
      renameSync(temporary, path)
    },
  }
}

function readHashes(path: string): Map<string, string> {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const entries = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return new Map()
  }
}
