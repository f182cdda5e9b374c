import type { Command } from 'commander'
import { BreakdownQuery } from '../../features/cost/breakdown-model.ts'
import { CostQuery } from '../../features/cost/model.ts'
import { OutcomesQuery } from '../../features/outcomes/model.ts'
import { QualityQuery } from '../../features/quality/model.ts'
import { RiskListQuery } from '../../features/risk/model.ts'
import { SessionListQuery } from '../../features/sessions/model.ts'
import { type Actions, lazy } from '../command/context.ts'
import { addOptions } from './options.ts'

const NOTE = `
Of the local database with --org, else of the server of --server, the environment or login. With --json the body that the
API answers with, and the range of its days.

Examples:
`

/** `cost`, `sessions`, `quality`, `risk`, `outcomes` and `team`: what the API answers, as tables. */
export function addFigures(program: Command, action: Actions): void {
  const command = (name: string, description: string) => program.command(name).description(description)
  addOptions(
    command('cost', 'what sessions cost: by project and the day they began; with --by by any key'),
    BreakdownQuery,
    CostQuery,
  )
    .addHelpText(
      'after',
      `\nWithout --by only --project, --from, --to and --group-by.${NOTE}  cloud-analytics cost --org acme
  cloud-analytics cost --by model --and-by project --from 2026-01-01
  cloud-analytics cost --by member --project checkout          (after login)`,
    )
    .action(action(lazy(async () => (await import('./cost.ts')).showCost)))
  addOptions(command('sessions', 'list sessions, the newest first'), SessionListQuery)
    .addHelpText(
      'after',
      `${NOTE}  cloud-analytics sessions --org acme
  cloud-analytics sessions --member ada@example.com --sort estimated_cost --per-page 10`,
    )
    .action(action(lazy(async () => (await import('./sessions.ts')).showSessions)))
  addOptions(command('quality', 'show the quality of sessions by day'), QualityQuery)
    .addHelpText('after', `${NOTE}  cloud-analytics quality --org acme --project checkout --from 2026-01-01`)
    .action(action(lazy(async () => (await import('./quality.ts')).showQuality)))
  addOptions(command('risk', 'list pull requests with their risk, the newest first'), RiskListQuery)
    .addHelpText('after', `${NOTE}  cloud-analytics risk --org acme --rating high`)
    .action(action(lazy(async () => (await import('./risk.ts')).showRisk)))
  addOptions(
    command('outcomes', 'what came of the money: merged pull requests and what they cost, lines of agents'),
    OutcomesQuery,
  )
    .addHelpText('after', `${NOTE}  cloud-analytics outcomes --org acme --by project --from 2026-01-01`)
    .action(action(lazy(async () => (await import('./outcomes.ts')).showOutcomes)))
  addOptions(command('team', 'list members with their sessions and cost of the last 30 days'))
    .addHelpText('after', `${NOTE}  cloud-analytics team --org acme`)
    .action(action(lazy(async () => (await import('./team.ts')).showTeam)))
}
