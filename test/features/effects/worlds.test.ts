import { describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { once } from '../../../src/base/memoize.ts'
import type { Effect } from '../../../src/features/effects/model.ts'
import { exportLines } from '../../../src/server/sync/export.ts'
import { plainComparison } from '../../analysis/effects/plain.ts'
import { asker, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { asOrganization } from '../../support/rls.ts'
import { CHANGE, MEMBERS, mondayOf, WEEKS, type World, worldOf } from './world.ts'

// Worlds with known answers, through POST /v1/sync and the API, beside another implementation.

const database = await testsDatabase()
const pricer = once(() => loadPricer())
const NOW = new Date(`${mondayOf(WEEKS)}T09:00:00Z`)

async function organization() {
  const own = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  const app = testApp(database.sql, { pricer, now: () => NOW })
  return { ...own, ask: asker(app, own.key) }
}
type Organization = Awaited<ReturnType<typeof organization>>

async function send({ ask }: Organization, records: readonly object[]): Promise<void> {
  for (let from = 0; from < records.length; from += 100) {
    const sent = await ask('POST', '/v1/sync', { records: records.slice(from, from + 100) })
    expect(sent.status).toBe(200)
  }
}

async function effectsOf({ ask }: Organization): Promise<Effect[]> {
  const { status, body, text } = await ask('GET', '/v1/effects?kind=version')
  expect(status).toBe(200)
  // nobody is named
  expect(text).not.toMatch(/user_|@example\.com|Person/)
  return body.data as unknown as Effect[]
}

/** The change of the world's version. */
async function measured(world: World, noise?: (member: number, week: number) => number) {
  const { records, rows, adopted } = worldOf(world, noise)
  const own = await organization()
  await send(own, records)
  const [effect, ...others] = await effectsOf(own)
  expect(others).toEqual([])
  if (effect === undefined) throw new Error('no change was noticed')
  return { own, records, rows, adopted, effect }
}

const half = (member: number) => (member < MEMBERS / 2 ? CHANGE : undefined)
/** Twins differ. */
const noisy = (member: number, week: number) =>
  ((member * 7919 + week * 104_729 + member * week * 1_301) % 997) / 997

const plainOf = (
  { rows, adopted }: Pick<Awaited<ReturnType<typeof measured>>, 'rows' | 'adopted'>,
  clusterOf = (unit: string) => unit,
) =>
  plainComparison({
    ...{ rows, adopted, clusterOf, after: 4, shift: 0, p: 0.975 },
    weeks: [...new Set(adopted.values())].filter((week) => week + 4 < WEEKS).sort((a, b) => a - b),
  })
const six = (value: number) => Number(value.toFixed(6))
const figuresOf = ({ effect, low, high, visible_rise, visible_fall, changed, others }: Effect) => ({
  ...{ effect, low, high, visible_rise, visible_fall, changed, others },
})
const figuresOfPlain = ({ theta, low, high, rise, fall, changed, others }: ReturnType<typeof plainOf>) => ({
  ...{ effect: six(Math.exp(theta) - 1), low: six(low), high: six(high) },
  ...{ visible_rise: six(rise), visible_fall: six(fall), changed, others },
})

const NO_PARTS = {
  ...{ price: 0, calls_per_prompt: 0, model_mix: 0, input_per_call: 0, output_per_call: 0 },
  ...{ cache_read_per_call: 0, cache_write_5m_per_call: 0, cache_write_1h_per_call: 0, other_per_call: 0 },
}

describe('a world', () => {
  test('in which half read 30 % more from the cache is seen, and all of it is cache reads', async () => {
    const found = await measured(
      { changesIn: half, reads: ({ hasChanged }) => (hasChanged ? 1.3 : 1) },
      noisy,
    )
    const { effect } = found
    expect(effect).toMatchObject({
      ...{ name: 'claude-code 2.1.330', evidence: 'compared', verdict: 'seen', look_at: null },
      change: { trait: 'version', source: 'noticed', first_week: mondayOf(CHANGE), unit: 'member' },
      ...{ compared_share: 1, clusters: { by: 'member', changed: 8, others: 8 }, notes: ['not_assigned'] },
    })
    expect(figuresOf(effect)).toEqual(figuresOfPlain(plainOf(found)))
    // the figures of a program of its own, written from docs/effects.md in another language
    expect(effect.money).toEqual({
      ...{ compared: 7.036521, extra: 0.664828, low: 0.323219, high: 0.989055 },
      parts: { ...NO_PARTS, cache_read_per_call: 0.664828 },
    })
    expect(effect.placebo).toEqual({ effect: -0.006389, low: -0.053849, high: 0.043451 })
    // nobody's work tells of this measure, which does not make it a change of all
    const { body } = await found.own.ask('GET', `/v1/effects/${effect.id}?measure=failed_tool_share`)
    expect(body).toMatchObject({ evidence: 'compared', verdict: 'too_few', changed: 0, others: 0 })
  })

  test('in which another model reads more has a part of each cause', async () => {
    const { effect } = await measured(
      {
        changesIn: half,
        reads: ({ hasChanged }) => (hasChanged ? 1.3 : 1),
        model: ({ hasChanged }) => (hasChanged ? 'claude-haiku-4-5' : 'claude-sonnet-4-5'),
      },
      noisy,
    )
    expect(effect).toMatchObject({ verdict: 'seen', effect: -0.631886, low: -0.650618, high: -0.61215 })
    expect(effect.money).toEqual({
      ...{ compared: 2.345507, extra: -4.026186, low: -4.367795, high: -3.701959 },
      parts: { ...NO_PARTS, model_mix: -4.426034, cache_read_per_call: 0.399848 },
    })
  })

  test('in which twins do the same shows exactly what differs', async () => {
    const { effect } = await measured({ changesIn: half, reads: ({ hasChanged }) => (hasChanged ? 1.3 : 1) })
    expect(effect.verdict).toBe('seen')
    expect(effect.placebo?.effect).toBe(0)
  })

  test('in which a model’s price changes for all shows nothing of it', async () => {
    const { effect } = await measured({
      changesIn: half,
      model: ({ week }) => (week >= CHANGE ? 'claude-haiku-4-5' : 'claude-sonnet-4-5'),
    })
    expect(effect).toMatchObject({ verdict: 'not_seen', effect: 0 })
  })

  test('in which a new, dearer repository comes with the change shows nothing of it', async () => {
    const { effect } = await measured({
      changesIn: half,
      more: ({ hasChanged }) => (hasChanged ? [{ project: 'new', reads: 3 }] : []),
    })
    expect(effect).toMatchObject({ verdict: 'not_seen', effect: 0 })
    expect(effect.compared_share).toBeLessThan(0.6)
  })

  test('in which those who change drift before it is withheld', async () => {
    const { effect } = await measured({
      changesIn: half,
      reads: ({ member, week }) => (member < MEMBERS / 2 ? 1.05 ** week : 1),
    })
    expect(effect.verdict).toBe('withheld')
  })

  test('of noise is not seen, and says from where on it could be', async () => {
    const found = await measured({ changesIn: half }, noisy)
    expect(found.effect.verdict).toBe('not_seen')
    expect(found.effect.visible_rise).toBeGreaterThan(0)
    expect(figuresOf(found.effect)).toEqual(figuresOfPlain(plainOf(found)))
  })

  test('in which all change in turn is that of the other implementation', async () => {
    const found = await measured(
      {
        changesIn: (member) => (member < MEMBERS / 2 ? 13 : 18),
        reads: ({ hasChanged }) => (hasChanged ? 1.3 : 1),
      },
      noisy,
    )
    expect(found.effect).toMatchObject({ evidence: 'compared', changed: 8, others: 8 })
    expect(figuresOf(found.effect)).toEqual(figuresOfPlain(plainOf(found)))
  })

  test('of 4 against 12 shows no figure', async () => {
    const { effect } = await measured({
      changesIn: (member) => (member < 4 ? CHANGE : undefined),
      reads: ({ hasChanged }) => (hasChanged ? 1.3 : 1),
    })
    expect(effect).toMatchObject({
      ...{ verdict: 'too_few', changed: 4, others: 12, effect: null, low: null, high: null, money: null },
      ...{ visible_rise: null, visible_fall: null, placebo: null, compared_share: null },
    })
  })

  test('in which teams change as a whole is clustered by team', async () => {
    const teamOf = (member: number) => `team ${Math.floor(member / 2)}`
    const found = await measured(
      {
        changesIn: (member) => (Math.floor(member / 2) % 2 === 0 ? CHANGE : undefined),
        reads: ({ hasChanged }) => (hasChanged ? 1.3 : 1),
        team: teamOf,
      },
      noisy,
    )
    expect(found.effect.clusters).toEqual({ by: 'team', changed: 4, others: 4 })
    const plain = plainOf(found, (unit) => teamOf(Number(unit.slice(5))))
    expect(figuresOf(found.effect)).toEqual(figuresOfPlain(plain))
  })

  test('in which all change at once is compared with its own past, which is too short', async () => {
    const { effect } = await measured({ changesIn: () => CHANGE })
    expect(effect).toMatchObject({
      ...{ evidence: 'own_past', verdict: 'unchecked', changed: 16, others: 0, effect: null },
      ...{ clusters: null, money: null, placebo: null },
    })
  })

  test('has the same answer for records in any order, sent twice, and after an export and import', async () => {
    const world = {
      changesIn: half,
      reads: ({ hasChanged }: { hasChanged: boolean }) => (hasChanged ? 1.3 : 1),
    }
    const { own, records, effect } = await measured(world, noisy)
    const [members, sessions] = [records.slice(0, MEMBERS), records.slice(MEMBERS)]
    const reversed = await organization()
    await send(reversed, [...members, ...sessions.toReversed()])
    await send(reversed, sessions)
    expect(JSON.stringify(await effectsOf(reversed))).toBe(JSON.stringify([effect]))
    const lines: object[] = []
    for await (const text of await asOrganization(own.orgId, async () =>
      exportLines(database.sql, own.orgId),
    ))
      lines.push(
        ...text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as object),
      )
    const imported = await organization()
    await send(
      imported,
      lines.filter((line) => ['session', 'member', 'effect'].includes((line as { type: string }).type)),
    )
    expect(JSON.stringify(await effectsOf(imported))).toBe(JSON.stringify([effect]))
  })
})
