import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { codexRollout } from '../analysis/agents/agent-scripts.ts'
import { testsFolder } from '../support/at-end.ts'
import { run, runJson, testsServer } from '../support/cli.ts'
import { newDataFolder } from '../support/data-folder.ts'

// Models without a price are named first: by sync when sessions are sent, by cost when they are read, here and by a server.

setDefaultTimeout(180_000)
const folder = testsFolder()
const env = { DATA_DIR: join(folder.path, 'data'), HOME: folder.path }

await newDataFolder(env.DATA_DIR)
const server = await testsServer('serve', env)
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], env)

const LINE = '"gpt-6.9-sol": { "input": 2, "output": 10, "cache_read": 0.1, "cache_write": 2.5 }'

test('sync and cost name the models without a price first, with a guess that somebody may accept', async () => {
  const path = join(folder.path, 'rollout.jsonl')
  const rollout = codexRollout([{ command: 'ls', exit: 0, output: 'a' }], {})
  await Bun.write(path, rollout.replaceAll('gpt-5.2-codex', 'gpt-6.9-sol'))
  const sent = await run(['sync', path, '--org', 'acme', '--user', 'ada@example.com'], env)
  expect(sent.stdout.split('\n').slice(0, 2)).toEqual([
    'no price is known for gpt-6.9-sol: they count as 0 dollars. Give it a price by a line in the file of MODEL_PRICES, then cloud-analytics reprice:',
    `  ${LINE}  (a guess: the price of gpt-6.2-sol)`,
  ])
  const record = {
    ...{ type: 'session', id: 'sess_house', project_name: 'shop', created_at: '2026-03-05T10:00:00Z' },
    ...{ model: 'in-house', tokens: { input: 4_000, output: 0, cache_read: 0, cache_creation: 0 } },
  }
  await runJson(['import', '-', '--org', 'acme'], env, `${JSON.stringify(record)}\n`)
  const { key } = await runJson(['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read'], env)
  const remote = { ...env, CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: key }
  const range = ['--from', '2026-03-01', '--to', '2026-03-31']
  for (const args of [[], ['--by', 'project']]) {
    const here = await run(['cost', ...range, ...args, '--org', 'acme'], env)
    const [first, ...lines] = here.stdout.split('\n')
    expect(first).toEndWith(
      'K tokens have no known price: they count as 0 dollars. Give it a price by a line in the file of MODEL_PRICES, then cloud-analytics reprice:',
    )
    expect(lines.slice(0, 3)).toEqual([
      '  "in-house": { "input": …, "output": … }  (no model of its family has a price: fill it in)',
      `  ${LINE}  (a guess: the price of gpt-6.2-sol)`,
      '',
    ])
    const there = await run(['cost', ...range, ...args], remote)
    expect(there.stdout).toBe(here.stdout.replace('--org acme', '--org SLUG'))
  }
  // nothing is priced by a guess by itself
  expect(await runJson(['reprice', '--org', 'acme'], env)).toMatchObject({ repriced: 0 })
  const prices = join(folder.path, 'prices.json')
  await Bun.write(prices, `{${LINE}}`)
  const accepted = await runJson(['reprice', '--org', 'acme'], { ...env, MODEL_PRICES: prices })
  expect(accepted).toMatchObject({ repriced: 1, unpriced_models: ['in-house'] })
})
