import type { TObject } from '@sinclair/typebox'
import { BreakdownQuery } from '../../features/cost/breakdown-model.ts'
import { CostQuery } from '../../features/cost/model.ts'
import { EffectListQuery, EffectQuery, RECORDED_KINDS, UNITS } from '../../features/effects/model.ts'
import { ExplainQuery } from '../../features/explain/model.ts'
import { OutcomesQuery } from '../../features/outcomes/model.ts'
import { RiskListQuery } from '../../features/risk/model.ts'
import { SeatQuery } from '../../features/seats/model.ts'
import { SessionListQuery } from '../../features/sessions/model.ts'
import { RangeFilters } from '../../features/usage/model.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { addParameters } from './options.ts'

const NOTE = `Of the local database with --org, else of the server of --server, the environment or login. With --json the body that the
API answers with, and the range of its days.`

/** `cost`, `sessions`, `quality`, `risk`, `outcomes`, `seats`, `limits` and `team`: what the API answers, as tables. */
export function addFigures(program: CliCommand): void {
  const figure = (name: string, description: string, ...schemas: readonly TObject[]) =>
    addParameters(program.add(name, description), schemas).notes(NOTE)
  figure(
    'cost',
    'what sessions cost: by project and the day of the calls; with --by by any key',
    BreakdownQuery,
    CostQuery,
  )
    .notes('Without --by only --project, --from, --to and --group-by.')
    .examples(
      'cost --org acme',
      'cost --by model --and-by project --from 2026-01-01',
      'cost --by member --project checkout          (after login)',
    )
    .load(async () => (await import('./cost.ts')).showCost)
  figure('explain', 'why cost changed: prompts, calls, models, tokens, prices', ExplainQuery)
    .examples(
      'explain --org acme',
      'explain --from 2026-11-01 --to 2026-11-30 --against 2026-10-01..2026-10-31 --by model',
    )
    .load(async () => (await import('./explain.ts')).showExplanation)
  figure('sessions', 'list sessions, the newest first', SessionListQuery)
    .examples('sessions --org acme', 'sessions --member ada@example.com --sort estimated_cost --per-page 10')
    .load(async () => (await import('./sessions.ts')).showSessions)
  figure('quality', 'show the quality of sessions by day', RangeFilters)
    .examples('quality --org acme --project checkout --from 2026-01-01')
    .load(async () => (await import('./quality.ts')).showQuality)
  figure('risk', 'list pull requests with their risk, the newest first', RiskListQuery)
    .examples('risk --org acme --rating high')
    .load(async () => (await import('./risk.ts')).showRisk)
  figure(
    'outcomes',
    'what came of the money: merged pull requests and what they cost, lines of agents',
    OutcomesQuery,
  )
    .examples('outcomes --org acme --by project --from 2026-01-01')
    .load(async () => (await import('./outcomes.ts')).showOutcomes)
  figure('seats', 'what seats cost, and what the same work would have cost by the price list', SeatQuery)
    .notes('Of the last 30 whole days without --from and --to. Paid and cost are never added.')
    .examples('seats --org acme', 'seats --verdict idle --from 2026-11-01')
    .load(async () => (await import('./seats.ts')).showSeats)
  program
    .add('limits', 'how much of your own plans’ limits is used; with --org of everybody, in the last 30 days')
    .option('--org <slug>', 'slug of the organization, in the local database')
    .server()
    .notes(NOTE)
    .examples('limits                                     (after login)', 'limits --org acme')
    .load(async () => (await import('./seats.ts')).showLimits)
  figure('team', 'list members with their sessions and cost of the last 30 days')
    .examples('team --org acme')
    .load(async () => (await import('./team.ts')).showTeam)
  addEffects(program)
}

function addEffects(program: CliCommand): void {
  const effects = program.add('effects', 'changes of how the organization works, and whether they paid')
  addParameters(effects.add('list', 'list the changes, the newest first'), [EffectListQuery])
    .notes(NOTE)
    .examples('effects list --org acme --verdict seen')
    .load(async () => (await import('./effects.ts')).showEffects)
  addParameters(effects.add('show <id>', 'show what a change made, with its range and parts'), [EffectQuery])
    .notes(NOTE)
    .examples('effects show --org acme eff_4c7f0d2k', 'effects show eff_4c7f0d2k --measure quality')
    .load(async () => (await import('./effects.ts')).showEffect)
  effects
    .add('add <name>', 'record a change, or have days assigned by a draw')
    .option('--org <slug>', 'slug of the organization, in the local database')
    .server()
    .choice('--kind <kind>', 'of a recorded change', RECORDED_KINDS)
    .option('--week <day>', 'a day of the week in which it changed')
    .option('--day <day>', 'the day on which it changed, in place of the week')
    .choice('--unit <unit>', 'who changed: members, or repositories', UNITS)
    .option('--members <list>', 'ids or addresses, with commas; without a list all changed')
    .option('--projects <list>', 'repositories, with commas')
    .option('--team <team>', 'the members of this team')
    .choice('--assigned <unit>', 'days are drawn for each member', ['days'])
    .option('--from <day>', 'first day of an assignment, today or later')
    .option('--to <day>', 'last day of an assignment')
    .examples(
      'effects add "AGENTS.md names the tests" --kind file --unit repository --week 2026-11-02 --projects checkout',
      'effects add "plan first" --assigned days --team payments --from 2026-12-01 --to 2026-12-28',
    )
    .load(async () => (await import('./effect-changes.ts')).addChange)
  effects
    .add('arm <id>', 'print 1 where the change is on for you on a day, else 0: for scripts and hooks')
    .server()
    .option('--day <day>', 'a day of the assignment (today)')
    .examples('effects arm eff_4c7f0d2k')
    .load(async () => (await import('./effect-changes.ts')).printArm)
}
