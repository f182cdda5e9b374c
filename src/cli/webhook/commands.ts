import type { CliCommand } from '../command/cli-command.ts'
import { integer, secret } from '../command/option-parsers.ts'

const LISTEN_PORT = 9876
const MIN_STATUS = 200
const MAX_STATUS = 599
const SHOWN_DELIVERIES = 50
const MAX_SHOWN_DELIVERIES = 1_000

/** `webhook`: registered endpoints and their deliveries, and tools for the author of a receiver. */
export function addWebhooks(program: CliCommand): void {
  const webhook = program
    .add('webhook', 'webhook endpoints, their deliveries, and receivers')
    .alias('webhooks')
  addHistory(webhook)
  addVerify(webhook)
  addListen(webhook)
}

function addHistory(webhook: CliCommand): void {
  webhook
    .add('list', 'list the endpoints of an organization; their secrets are never shown')
    .option('--org <slug>', 'slug of the organization, in the local database; without it a server is asked')
    .server()
    .examples(
      'webhook list                           (after login; the key needs the scope webhooks)',
      'webhook list --org acme',
    )
    .load(async () => (await import('./history.ts')).showEndpoints)
  webhook
    .add(
      'deliveries <id>',
      'list the latest deliveries of an endpoint (hook_…), also of one that was deleted',
    )
    .option('--status <status>', 'only these: pending, pending_retry, success, failed or cancelled')
    .option('--event <event>', 'only of this event, as session.completed')
    .option('--limit <n>', 'how many', integer(1, MAX_SHOWN_DELIVERIES), SHOWN_DELIVERIES)
    .examples('webhook deliveries hook_8s2m --status failed')
    .load(async () => (await import('./history.ts')).showDeliveries)
  webhook
    .add('redeliver <id>', 'send a delivery (dlv_…) again, now; a running server does it')
    .examples('webhook redeliver dlv_0k3w')
    .load(async () => (await import('./history.ts')).redeliverNow)
  webhook
    .add('recover <id>', 'send all failed and cancelled deliveries of an endpoint (hook_…) again, of a time')
    .requiredOption(
      '--since <time>',
      'made from then on: a date, or a date and time, in UTC unless it has an offset',
    )
    .option('--until <time>', 'and before then; now unless given')
    .option('--dry-run', 'only count them')
    .examples('webhook recover hook_8s2m --since 2026-11-01 --dry-run')
    .load(async () => (await import('./history.ts')).recoverNow)
  webhook
    .add('new-secrets', 'give endpoints new secrets and list them, once: for when secret.key is lost')
    .option('--org <slug>', 'those of this organization')
    .option('--all', 'those of every organization')
    .option('--yes', 'do it: receivers refuse what is sent until they have their new secret')
    .notes(`The former secrets are of no use any more, nor is a key that is found later. The new ones are encrypted with SECRET_KEY or
secret.key, which is made where there is none.`)
    .examples('webhook new-secrets --all --yes')
    .load(async () => (await import('./new-secrets.ts')).newSecrets)
}

function addVerify(webhook: CliCommand): void {
  webhook
    .add('verify', 'check the signature of a body on standard input: exit code 0 valid, 1 not')
    .option('--secret <secret>', "the endpoint's secret, or @FILE (WEBHOOK_SECRET)", secret)
    .requiredOption('--signature <signature>', 'sha256=<hex>, or v1,<base64> of webhook-signature')
    .option('--id <id>', 'header webhook-id, for v1')
    .option('--timestamp <seconds>', 'header webhook-timestamp, for v1')
    .notes(
      `The bytes have to be those that were sent. A secret in the variable WEBHOOK_SECRET is not seen in the list of processes.`,
    )
    .examples(`printf '%s' 'Hello, World!' | cloud-analytics webhook verify --secret "It's a Secret to Everybody" \\
    --signature sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17`)
    .load(async () => (await import('./verify.ts')).verifyWebhook)
}

function addListen(webhook: CliCommand): void {
  const listen = webhook
    .add('listen', 'receive webhooks on 127.0.0.1, verify them and show them')
    .option('--port <port>', `port to listen on, 0 for any free one (${LISTEN_PORT})`)
    .option(
      '--secret <secret>',
      "the endpoint's secret, or @FILE (WEBHOOK_SECRET); without it nothing is verified",
      secret,
    )
    .option('--status <status>', 'answer with this', integer(MIN_STATUS, MAX_STATUS), MIN_STATUS)
    .notes(`An invalid signature is answered with 400. Deliveries are shown on standard error, with --json each as a line of JSON;
then standard output has one line when it listens: { "url", "pid" }.`)
    .examples('webhook listen --port 9000 --secret "$SECRET" --status 500')
  listen.run(async (context, options: { secret?: string; status: number }) => {
    const { listenForWebhooks } = await import('./listen.ts')
    // commander gives --port to the program's setting; the variable PORT is for the server and not used here
    const isPortGiven = listen.optsWithGlobals<{ port?: string }>().port !== undefined
    await listenForWebhooks(context, { ...options, port: isPortGiven ? context.config.port : LISTEN_PORT })
  })
}
