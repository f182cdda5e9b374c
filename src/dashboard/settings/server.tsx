// Sections of the settings that show the server (version, backups, workers) and how people sign in at it.

import type { ServerState } from '../../features/whoami/server-model.ts'
import { useApi, useLoaded } from '../client/api.ts'
import { readMethods } from '../client/auth.ts'
import { countOf, daysAgo, formatBytes, formatDuration, formatShare } from '../client/format.ts'
import { serverUrl } from '../client/server-url.ts'
import { Answer, Facts, Show } from '../parts/show.tsx'
import { Time } from '../parts/values.tsx'

/** Backups may be this many days old before the heading says so. */
const OLD_DAYS = 2

export function ServerSettings() {
  const server = useApi<ServerState>('/server')
  if (server.state === 'failed' && server.error.status === 404)
    return <Answer>Several organizations share this server: only its operator sees its state</Answer>
  return (
    <Show loaded={server} what="the server">
      {({ version, database_bytes, backup_every_seconds, last_backup, backup_failed_at, disk }) => {
        const age = last_backup === null ? undefined : daysAgo(last_backup.at)
        return (
          <>
            <Answer>
              {last_backup === null
                ? 'There is no backup'
                : age === 0
                  ? 'The last backup is of today'
                  : `The last backup is ${countOf(age ?? 0, 'day')} old`}
              {disk !== null &&
                `; ${formatBytes(disk.free_bytes)} of the disk’s ${formatBytes(disk.total_bytes)} are free`}
              ; the version is {version}
            </Answer>
            {(last_backup === null || (age ?? 0) >= OLD_DAYS) && (
              <p>
                {backup_every_seconds === null ? (
                  <>
                    The server makes none by itself. <code>BACKUP_EVERY=24h</code> has it make one a day;{' '}
                    <code>cloud-analytics backup FILE</code> makes one now.
                  </>
                ) : (
                  <>
                    <code>cloud-analytics doctor</code> says why.
                  </>
                )}
              </p>
            )}
            <Facts
              kind="facts"
              of={[
                ['Database', formatBytes(database_bytes)],
                ['Last backup', last_backup === null ? 'none' : <Time key="at" at={last_backup.at} />],
                ['Its size', last_backup === null ? undefined : formatBytes(last_backup.bytes)],
                [
                  'A backup every',
                  backup_every_seconds === null ? 'never' : formatDuration(backup_every_seconds),
                ],
                [
                  'Failed',
                  backup_failed_at === null ? undefined : <Time key="failed" at={backup_failed_at} />,
                ],
                [
                  'Disk',
                  disk === null
                    ? 'of another server'
                    : `${formatBytes(disk.free_bytes)} free of ${formatBytes(disk.total_bytes)} (${formatShare(disk.free_bytes / disk.total_bytes)})`,
                ],
              ]}
            />
          </>
        )
      }}
    </Show>
  )
}

/** Shows how people sign in at this server; its operator decides that. */
export function SignInSettings() {
  const methods = useLoaded('sign-in methods', readMethods)
  return (
    <Show loaded={methods} what="how people sign in">
      {({ password, oidc }) => (
        <>
          <Answer>
            People sign in by{' '}
            {[password && 'a password', oidc && 'the identity provider'].filter(Boolean).join(' or ') ||
              'nothing'}
          </Answer>
          <Facts
            kind="facts"
            of={[
              ['Password', password ? 'on' : 'off'],
              ['Identity provider (OpenID Connect)', oidc ? 'configured' : 'not configured'],
              ['Machines', <code key="machines">cloud-analytics login --server {serverUrl()}</code>],
            ]}
          />
          <p class="note">
            {password && 'A member gets a password by a link of the section Members. '}
            {oidc && 'Roles come from the identity provider at each sign-in. '}
            The server’s operator changes these by PASSWORDS and OIDC_ISSUER: docs/access.md.
          </p>
        </>
      )}
    </Show>
  )
}
