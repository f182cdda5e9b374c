// Runs the server from source and restarts it when a file below src changes: `bun run dev`, with the server's
// flags. Not `bun --watch`: it replaces the process in place, so that the embedded PostgreSQL, which stops
// when its parent ends, continues and holds the data directory; each restart would wait 30 s for it.

import { watch } from 'node:fs'
import { join } from 'node:path'
import { MAX_HTTP_HEADER_BYTES } from './compile.ts'
import { ROOT } from './files.ts'

const DATA_DIR = join(ROOT, 'dist/dev')
/** No file must change for this long before a restart: editors and git write several files at once. */
const QUIET_MS = 100

const start = () =>
  Bun.spawn({
    cmd: [
      process.execPath,
      `--max-http-header-size=${MAX_HTTP_HEADER_BYTES}`,
      join(ROOT, 'src/main.ts'),
      'serve',
      '--data-dir',
      DATA_DIR,
      ...process.argv.slice(2),
    ],
    stdio: ['inherit', 'inherit', 'inherit'],
  })

let server = start()
let timer: ReturnType<typeof setTimeout> | undefined
let restarting = Promise.resolve()

const stop = async (): Promise<void> => {
  server.kill('SIGTERM')
  await server.exited
}
const watcher = watch(join(ROOT, 'src'), { recursive: true }, (_event, file) => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    process.stderr.write(`dev: src/${file} changed, restarting\n`)
    restarting = restarting.then(stop).then(() => {
      server = start()
    })
  }, QUIET_MS)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    watcher.close()
    clearTimeout(timer)
    restarting = restarting.then(stop)
  })
