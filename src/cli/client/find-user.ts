// Finds whose sessions a command sends: by flag, variable, the key's member or git's address.

import { existsSync } from 'node:fs'
import { OperatorError } from '../../base/errors.ts'
import { type Environment, homeOf } from './folders.ts'

export interface SessionUser {
  email: string
  from: '--user' | 'CLOUD_ANALYTICS_USER' | "the key's member" | 'git config user.email'
}

const EMAIL = /^[^\s@]+@[^\s@]+$/

/**
 * Finds the user of the sessions that are sent: `--user`, else CLOUD_ANALYTICS_USER, else the key's member, else
 * git's `user.email`; undefined when none is known. `memberOf` resolves to the address of the key's member, and is
 * called only when it is needed. Throws OperatorError for an invalid address.
 */
export async function findUser(
  env: Environment,
  user: string | undefined,
  memberOf: () => Promise<string | null>,
): Promise<SessionUser | undefined> {
  if (user !== undefined) return { email: checked(user, '--user'), from: '--user' }
  const value = env.CLOUD_ANALYTICS_USER?.trim()
  if (value) return { email: checked(value, 'CLOUD_ANALYTICS_USER'), from: 'CLOUD_ANALYTICS_USER' }
  const member = await memberOf()
  if (member !== null) return { email: member, from: "the key's member" }
  const email = gitEmail(env)
  return email === undefined ? undefined : { email, from: 'git config user.email' }
}

/** Throws OperatorError with the option's or variable's name unless the text is an e-mail address. */
export function checked(email: string, name: string): string {
  if (!EMAIL.test(email)) throw new OperatorError(`${name} must be an e-mail address`, 2)
  return email
}

/** The address that git commits with, of the home folder first: whichever folder a session is sent from, its user is the same. */
function gitEmail(env: Environment): string | undefined {
  const git = Bun.which('git', { PATH: env.PATH ?? '' })
  if (git === null || isInstallerStub(git)) return undefined
  for (const cwd of [homeOf(env), process.cwd()]) {
    const email = emailIn(git, cwd, env)
    if (email !== undefined) return email
  }
  return undefined
}

function emailIn(git: string, cwd: string, env: Environment): string | undefined {
  if (!existsSync(cwd)) return undefined
  const { stdout, success } = Bun.spawnSync({
    cmd: [git, 'config', '--get', 'user.email'],
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    // a file of git may be a pipe, which nobody writes to
    timeout: 5_000,
  })
  const email = stdout.toString().trim()
  return success && EMAIL.test(email) ? email : undefined
}

/** macOS has a `git` that, without the developer tools, opens a window that asks whether to install them. */
const isInstallerStub = (git: string): boolean =>
  process.platform === 'darwin' &&
  git === '/usr/bin/git' &&
  !existsSync('/Library/Developer/CommandLineTools/usr/bin/git') &&
  !existsSync('/Applications/Xcode.app')
