// The least that a server can do: one response, the same bytes each time.

const body = await Bun.stdin.bytes()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => new Response(body, { headers: { 'content-type': 'application/json' } }),
})
process.stdout.write(`${server.port}\n`)
