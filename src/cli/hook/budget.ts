// The command `hook budget`, which agents run before a prompt: says on standard output when a budget is nearly used, and
// refuses the prompt beyond it where the organization wants that. It answers from a copy of the budgets, and is never in the
// way: without an answer of the server the prompt goes through.

import { basename } from 'node:path'
import { createRepositoryFinder } from '../../analysis/agents/git/project-name.ts'
import { readJsonFile } from '../../base/json-file.ts'
import type { MyBudgets } from '../../features/budgets/model.ts'
import { fetchAnswer } from '../client/ask-server.ts'
import type { Environment } from '../client/folders.ts'
import { type Login, readLogin } from '../client/login-file.ts'
import { budgetsPath } from '../client/state-files.ts'
import { writePrivate } from '../client/whole-file.ts'
import { parseVisible } from '../command/output.ts'
import { startSelf } from '../command/run-self.ts'

/** A copy is used alone until it is so old, and together with a short question up to the second age. */
const FRESH_MS = 60_000
const VALID_MS = 600_000
/** Waits for the server: without a copy, with one, and where nobody waits for the answer. */
const FIRST_MS = 1_000
const AGAIN_MS = 50
const BEHIND_MS = 10_000

interface Copy {
  /** Milliseconds since 1970. */
  at: number
  answer: MyBudgets
}
type Budget = MyBudgets['budgets'][number]

/** Claude Code shows the line to the user, and not to the model; or refuses the prompt with the reason. */
type Said = { systemMessage: string } | { decision: 'block'; reason: string }

/** `hook budget AGENT`: reads a prompt's folder from standard input. `refreshed`: only asks the server for this folder. */
export async function runBudgetHook(env: Environment, refreshed: string | undefined): Promise<void> {
  try {
    const login = readLogin(env)
    if (login === undefined) return
    if (refreshed !== undefined) {
      await ask(env, login, refreshed, BEHIND_MS)
      return
    }
    const { cwd } = JSON.parse(await Bun.stdin.text()) as { cwd?: unknown }
    const answer = await find(env, login, typeof cwd === 'string' ? cwd : process.cwd())
    const said = answer && sayingOf(answer, login.server)
    if (said !== undefined) await Bun.write(Bun.stdout, `${JSON.stringify(said)}\n`)
  } catch {
    // the prompt goes through
  }
}

/** The budgets of who works in the folder; undefined where the server does not tell. */
async function find(env: Environment, login: Login, folder: string): Promise<MyBudgets | undefined> {
  const copy = readJsonFile(budgetsPath(env, login.server, folder)) as Copy | undefined
  const age = copy === undefined ? Number.POSITIVE_INFINITY : Date.now() - copy.at
  const isValid = age >= 0 && age < VALID_MS
  if (copy === undefined || !isValid) return await ask(env, login, folder, FIRST_MS).catch(() => undefined)
  // a limit may have been raised since a refusal, and nothing is refused while the server is away
  if (age < FRESH_MS && !isRefused(copy.answer)) return copy.answer
  try {
    return await ask(env, login, folder, AGAIN_MS)
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'TimeoutError') return undefined
    startSelf(['hook', 'budget', 'refresh', folder], env)
    return copy.answer
  }
}

/** Asks the server and keeps the answer. Rejects when it has none in time. */
async function ask(env: Environment, { server, key }: Login, folder: string, waitMs: number) {
  const project = createRepositoryFinder()(folder)?.name ?? basename(folder)
  const { ok, status, text } = await fetchAnswer(
    `${server}/v1/budgets/mine?project=${encodeURIComponent(project)}`,
    { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(waitMs) },
  )
  if (!ok) throw new Error(`the server answered ${status}`)
  const answer = parseVisible<MyBudgets>(text)
  const copy: Copy = { at: Date.now(), answer }
  writePrivate(budgetsPath(env, server, folder), JSON.stringify(copy))
  return answer
}

const isRefused = ({ action, budgets }: MyBudgets): boolean =>
  action === 'block' && budgets.some(({ status }) => status === 'exceeded')

function sayingOf({ action, budgets }: MyBudgets, server: string): Said | undefined {
  const isExceeded = ({ status }: Budget) => status === 'exceeded'
  const overLimit = budgets.filter(({ status }) => status !== 'ok')
  // the one that is exceeded comes first, and the most used
  overLimit.sort((a, b) => Number(isExceeded(b)) - Number(isExceeded(a)) || b.percent_used - a.percent_used)
  const [worst] = overLimit
  if (worst === undefined) return undefined
  const { limit, current_cost, percent_used } = worst
  const used = `${dollars(current_cost)} of ${dollars(limit)}`
  const name = scopeName(worst.scope)
  const raise = `An owner or admin of the organization can raise it: ${server}/#/settings/budget`
  if (!isExceeded(worst))
    return {
      systemMessage: `Cloud Analytics: ${name} is used to ${Math.floor(percent_used)} % this month (${used}).`,
    }
  const text = `${name} is exceeded this month (${used}). ${raise}`
  return action === 'block'
    ? { decision: 'block', reason: `Cloud Analytics: the prompt is refused, since ${text}` }
    : { systemMessage: `Cloud Analytics: ${text}` }
}

function scopeName({ project, member, team }: Budget['scope']): string {
  if (member !== undefined) return 'your budget'
  if (team !== undefined) return `the budget of the team ${team}`
  return project === undefined ? 'the budget of the organization' : `the budget of the project ${project}`
}

const dollars = (amount: number): string => `$${amount.toFixed(2)}`
