// Checks a record against its schema and the rules between its fields, and says in words what is wrong.

import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { FieldProblem } from '../../base/errors.ts'
import { findUnstorable } from '../../base/text.ts'
import { type BudgetRecord, budgetProblem } from './budget.ts'
import { type CommitRecord, commitProblem } from './commit.ts'
import './text-formats.ts'
import { type EffectRecord, effectProblem } from './effect.ts'
import { type PlanRecord, planProblem } from './plan.ts'
import { problemsIn } from './problems.ts'
import { RECORD_SCHEMAS } from './records.ts'
import { type PrRiskRecord, riskProblem } from './risk.ts'
import { type SessionRecord, sessionProblem } from './session.ts'

const SCHEMAS = new Map<string, TSchema>(Object.entries(RECORD_SCHEMAS))
/** The checks by type, each made for its first record: all take 20 ms. */
const compiled = new Map<string, TypeCheck<TSchema>>()

/** A record's problems, up to `limit` fields. `at` names the record: `records[3]`; `json` is its text, where it is known. */
export function problemsOf(record: unknown, at: string, limit: number, json?: string): FieldProblem[] {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return [{ field: at, message: 'must be an object' }]
  }
  const type = 'type' in record ? record.type : undefined
  const schema = typeof type === 'string' ? SCHEMAS.get(type) : undefined
  if (schema === undefined) {
    return [{ field: `${at}.type`, message: `must be one of ${[...SCHEMAS.keys()].join(', ')}` }]
  }
  const check = compiled.getOrInsertComputed(`${type}`, () => TypeCompiler.Compile(schema))
  if (!check.Check(record)) return problemsIn(check.Errors(record), at, limit)
  // schemas do not relate fields to each other
  const problem =
    type === 'pr_risk'
      ? riskProblem(record as PrRiskRecord, at)
      : type === 'commit'
        ? commitProblem(record as CommitRecord, at)
        : type === 'budget'
          ? budgetProblem(record as BudgetRecord, `${at}.`)
          : type === 'session'
            ? sessionProblem(record as SessionRecord, at)
            : type === 'plan'
              ? planProblem(record as PlanRecord, `${at}.`)
              : type === 'effect'
                ? effectProblem(record as EffectRecord, `${at}.`)
                : undefined
  if (problem !== undefined) return [problem]
  const problems: FieldProblem[] = []
  findUnstorable(record, at, problems, limit, json)
  return problems
}

export const problemOf = (record: unknown, at: string, json?: string): FieldProblem | undefined =>
  problemsOf(record, at, 1, json)[0]
