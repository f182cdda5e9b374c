import { createEgress } from '../../src/webhooks/http/egress.ts'
import { createSender } from '../../src/webhooks/http/sender.ts'

// A program that sends 100 requests at once to the URL given, and prints how they ended. A process of its
// own, so that a test can limit its file descriptors.

const [url = ''] = process.argv.slice(2)
const egress = createEgress({ allowCidrs: ['127.0.0.0/8'], allowHttp: true, ownAddresses: [] })
const sender = createSender({ egress, resolve: async () => ['127.0.0.1'], timeoutMs: 20_000 })
const sent = Array.from({ length: 100 }, () => sender.send({ url, headers: {}, body: '{}' }))
const results = await Promise.all(sent)
sender.close()
const counts: Record<string, number> = {}
for (const { ok, postponed, error } of results) {
  const ending = ok ? 'ok' : postponed ? 'postponed' : `${error}`
  counts[ending] = (counts[ending] ?? 0) + 1
}
process.stdout.write(JSON.stringify(counts))
