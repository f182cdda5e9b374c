// Receives webhooks: `WEBHOOK_SECRET=whsec_… PORT=8000 node receiver.js`
import { createServer } from 'node:http'
import { verifyWebhook, WebhookVerificationError } from 'cloud-analytics-client'

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    // the body as it came: parsed and serialized again it has another signature
    const event = verifyWebhook(Buffer.concat(chunks), request.headers, process.env.WEBHOOK_SECRET)
    // the same id comes again when an answer was lost: remember those that are done
    console.log(event.id, event.event, event.data)
    response.writeHead(204).end()
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.writeHead(401).end(error.message)
  }
}).listen(Number(process.env.PORT ?? 8000))
