import { describe, expect, test } from 'bun:test'
import { testsDatabase } from '../../support/postgres.ts'
import { clockOf, commits, limits, risks, sessions, world, ZONES } from './world.ts'

// An organization's days by its time zone, compared with days that Intl and plain counting give.

const db = await testsDatabase()

describe('days of an organization', () => {
  test('are those of its time zone, in every answer, and those of UTC again after a change back', async () => {
    const { change, get, differences, rows } = await world(db)
    const before = await rows()
    expect(await differences()).toEqual([])
    for (const zone of ['UTC', ...ZONES]) {
      if (zone !== 'UTC') await change(zone)
      expect(await differences()).toEqual([])
      const dayOf = clockOf(zone)
      const byDay = Map.groupBy(sessions, ({ created_at }) => dayOf(created_at))
      const mean = (of: typeof sessions) =>
        Math.round(
          of.reduce((sum, { quality_metadata }) => sum + Math.round(quality_metadata.score * 100), 0) /
            of.length +
            1e-9,
        ) / 100
      const { data: trend } = await get('/v1/quality/trend?granularity=day')
      expect(
        (trend as { date: string; sessions: number }[]).map(({ date, sessions: count }) => [date, count]),
      ).toEqual([...byDay].map(([day, of]): [string, number] => [day, of.length]).sort())
      for (const day of ['2026-04-24', '2026-10-25', '2026-10-04', '2026-10-31']) {
        const of = (byDay.get(day) ?? []).toSorted((a, b) => (a.created_at > b.created_at ? -1 : 1))
        const range = `date_from=${day}&date_to=${day}`
        for (const filter of [
          '',
          '&sort=turns',
          '&min_quality=0',
          '&model=claude-sonnet-4-5',
          '&agent=claude-code&sort=turns',
        ]) {
          const { data, pagination } = await get(`/v1/sessions?${range}&per_page=100${filter}`)
          expect([zone, day, filter, (pagination as { total: number }).total]).toEqual([
            zone,
            day,
            filter,
            of.length,
          ])
          expect((data as { id: string }[]).map(({ id }) => id).toSorted()).toEqual(
            of.map(({ id }) => id).toSorted(),
          )
        }
        expect(await get(`/v1/quality?${range}`)).toMatchObject({
          total_sessions: of.length,
          ...(of.length > 0 && { average_score: mean(of) }),
        })
        const { summary } = await get(`/v1/security?${range}`)
        expect((summary as { total_sessions: number }).total_sessions).toBe(of.length)
        const found = of.filter(({ security_metadata }) => security_metadata.findings.length > 0)
        expect((await get(`/v1/findings?${range}`)).pagination).toMatchObject({ total: found.length })
        const files = new Set(
          found.flatMap(({ security_metadata: { findings } }) => findings.map(({ file }) => file)),
        )
        expect((await get(`/v1/security/heatmap?${range}`)).summary).toMatchObject({ files: files.size })
        const seats = (await get(`/v1/seats?${range}`)).data as { limits: object[] }[]
        expect(seats.flatMap((seat) => seat.limits)).toHaveLength(
          limits.filter(({ at }) => dayOf(at) === day).length,
        )
        const { total } = await get(`/v1/outcomes?by=project&${range}`)
        expect(total).toMatchObject({
          commits: commits.filter(({ committed_at }) => dayOf(committed_at) === day).length,
          pull_requests: {
            merged: risks.filter(({ merged_at }) => merged_at !== undefined && dayOf(merged_at) === day)
              .length,
          },
        })
      }
    }
    await change('UTC')
    expect(await differences()).toEqual([])
    expect(await rows()).toEqual(before)
  })

  test('pages go on over days of 23 and 25 hours, in both orders', async () => {
    const { change, get } = await world(db)
    for (const zone of ZONES) {
      await change(zone)
      for (const [order, project] of [
        ['desc', ''],
        ['asc', ''],
        ['asc', '&project=web'],
        ['desc', '&project=web'],
      ]) {
        const wanted = sessions
          .filter(({ project_name }) => project === '' || project_name === 'web')
          .toSorted((a, b) =>
            a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : a.id < b.id ? -1 : 1,
          )
          .map(({ id }) => id)
        if (order === 'desc') wanted.reverse()
        for (const page of [2, 5, 9]) {
          const { data } = await get(`/v1/sessions?order=${order}&per_page=11&page=${page}${project}`)
          const ids = (data as { id: string }[]).map(({ id }) => id)
          expect([zone, order, project, page, ids]).toEqual([
            zone,
            order,
            project,
            page,
            wanted.slice(11 * (page - 1), 11 * page),
          ])
        }
      }
    }
  })

  test('what is written after a change is on the days of the zone, and removing it leaves none', async () => {
    const { change, ask, differences, orgId } = await world(db)
    const versions = async () =>
      (
        await db.sql<{ version: number }[]>`
          select w.version::integer as version from work_weeks w where w.org_id = ${orgId} order by w.week`
      ).map(({ version }) => version)
    const before = await versions()
    await change('Asia/Kolkata')
    // Effects that were measured from these weeks are measured again
    expect(await versions()).toEqual(before.map((version) => version + 1))
    const late = sessions.map((session) => ({ ...session, id: `${session.id}-late` }))
    expect((await ask('POST', '/v1/sync', { records: late })).body).toMatchObject({ created: late.length })
    expect(await differences()).toEqual([])
    for (const { id } of late.slice(0, 40))
      expect((await ask('DELETE', `/v1/sessions/${id}`)).status).toBeLessThan(300)
    expect(await differences()).toEqual([])
  })
})
