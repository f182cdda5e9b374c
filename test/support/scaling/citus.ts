import { connect, type Sql } from '../../../src/database/client.ts'

// The tests' databases on a Citus: `TEST_CITUS_URLS` has the URLs of its coordinator and its workers, separated by commas,
// as `test/citus/cluster.ts` prints them. Every test that makes a database then runs on distributed tables.

/** The coordinator first; empty without a cluster. */
export const citusUrls: readonly string[] = (process.env.TEST_CITUS_URLS ?? '')
  .split(',')
  .filter((url) => url !== '')

/** Makes a cluster of databases, one on each node, the coordinator's first. */
export async function joinNodes(urls: readonly string[]): Promise<void> {
  const nodes = urls.map((url) => connect({ url }, { max: 1, applicationName: 'test-nodes' }))
  await Promise.all(nodes.map((node) => node`create extension citus`))
  const [coordinator] = nodes
  if (coordinator === undefined) throw new Error('a cluster has a coordinator')
  for (const [index, url] of urls.entries()) {
    const { hostname, port } = new URL(url)
    const node = coordinator`${hostname}, ${Number(port || 5432)}`
    if (index === 0) await coordinator`select citus_set_coordinator_host(${node})`
    else await coordinator`select citus_add_node(${node})`
  }
  await Promise.all(nodes.map((node) => node.end()))
}

/** Ends the connections to a template, that of Citus' own process too, which would start again: it cannot be copied before. */
export async function closeTemplate(admin: Sql, template: string): Promise<void> {
  await admin.unsafe(`alter database "${template}" allow_connections false`)
  for (;;) {
    const others = await admin<{ ended: boolean }[]>`
      select pg_terminate_backend(a.pid) as ended
      from pg_stat_activity a
      where a.datname = ${template}`
    if (others.length === 0) return
    await Bun.sleep(50)
  }
}

/** Ends the transactions of a worker's database that a coordinator left prepared: the database cannot be dropped before. */
export async function rollBackPrepared(admin: Sql, url: string): Promise<void> {
  const left = await admin<{ gid: string }[]>`
    select p.gid
    from pg_prepared_xacts p
    where p.database = ${new URL(url).pathname.slice(1)}`
  if (left.length === 0) return
  const node = connect({ url }, { max: 1, applicationName: 'test-prepared' })
  for (const { gid } of left) await node.unsafe(`rollback prepared '${gid}'`)
  await node.end()
}
