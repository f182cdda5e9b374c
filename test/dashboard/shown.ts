import { expect } from 'bun:test'
import { type HttpServer, listen } from '../../src/http/listen.ts'
import type { App } from '../../src/server/app.ts'
import { client, jsonPost, newOrg, type Org, testApp } from '../support/api.ts'
import { silent, type TestDatabase, testDatabase } from '../support/postgres.ts'
import { type Browser, type Page, startBrowser } from './browser.ts'

// A server with a database of its own, and the browser that shows its pages to a test.

export interface Shown {
  db: TestDatabase
  app: App
  server: HttpServer
  browser: Browser
  page: Page
  /** The organization whose key `send` and `visit` have. */
  acme: Org
  send(records: readonly object[], key?: string): Promise<void>
  /** Goes to a page with a key; resolves when nothing is loading any more. */
  visit(fragment: string, key?: string): Promise<void>
  close(): Promise<void>
}

/** Whether a page has loaded all that it shows. */
export const SETTLED = `document.querySelector('h1') !== null && document.querySelector('.stale') === null &&
  ![...document.querySelectorAll('[role=status]')].some((node) => node.textContent.startsWith('Loading'))`
export const quoted = JSON.stringify

/** Starts all of it, with an organization whose key has these scopes. */
export async function show(
  program: string,
  scopes: string[],
  appOf = (db: TestDatabase) => testApp(db.sql, { writes: db.pool(2) }),
): Promise<Shown> {
  const db = await testDatabase()
  const app = appOf(db)
  const server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
  const acme = await newOrg(db.sql, { scopes })
  const browser = await startBrowser(program)
  const page = await browser.newPage()
  return {
    ...{ db, app, server, browser, page, acme },
    async send(records, key = acme.key) {
      const response = await client(app, key)('/v1/sync', jsonPost({ records }))
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    },
    async visit(fragment, key = acme.key) {
      await page.open(`${server.url}/live`)
      await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${quoted(key)})`)
      await page.open(`${server.url}/${fragment}`)
      await page.until(SETTLED)
    },
    async close() {
      await browser.close()
      await server.stop()
      await db.drop()
    },
  }
}
