// Makes docs/dashboard.png, the README's picture: the overview of `demo`, as the built executable serves it.
// Needs Chromium. Run by `bun run picture` after `bun run build`.

import { join } from 'node:path'
import { findBrowser, startBrowser } from './browser.ts'

const ROOT = join(import.meta.dir, '../..')
const WIDTH = 1280
const HEIGHT = 760

const program = findBrowser()
if (program === null) throw new Error('Chromium is needed: set CHROMIUM to its program')
const demo = Bun.spawn([join(ROOT, 'dist/cloud-analytics'), 'demo', '--port', '0', '--json'], {
  stdio: ['ignore', 'pipe', 'ignore'],
})
const browser = await startBrowser(program)
try {
  const { value } = await demo.stdout.getReader().read()
  const { url, key } = JSON.parse(new TextDecoder().decode(value)) as { url: string; key: string }
  const page = await browser.newPage()
  await page.resize(WIDTH, HEIGHT)
  await page.open(url)
  await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${JSON.stringify(key)})`)
  await page.open('about:blank')
  await page.open(`${url}/#/`)
  await page.until(
    `document.querySelectorAll('.chart').length > 0 && /agents wrote [\\d.]+% of the lines/.test(document.body.innerText) &&
      ![...document.querySelectorAll('[role=status]')].some((node) => node.textContent.startsWith('Loading'))`,
  )
  await Bun.write(join(ROOT, 'docs/dashboard.png'), await page.screenshot())
} finally {
  await browser.close()
  demo.kill('SIGTERM')
  await demo.exited
}
