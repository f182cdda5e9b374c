// Makes the app without a server: its routes answer what commands ask.

import { createRegistry } from '../base/metrics/registry.ts'
import { createSecretBox } from '../webhooks/signing/secret-box.ts'
import { type AppDeps, createApp } from './app.ts'

const noServer = () => Promise.reject(new Error('no server runs'))

/** Its routes read over `sql`; what is sent is not taken, and the log has no line for a request. */
export const createLocalApp = ({ sql, config, log }: Pick<AppDeps, 'sql' | 'config' | 'log'>) =>
  createApp({
    ...{ config, log: { ...log, all: () => {} }, sql, writes: sql, people: sql, lists: sql },
    lookUp: (statement) => statement(sql),
    registry: createRegistry(),
    now: () => new Date(),
    instance: '',
    worker: () => 'ok',
    intake: { submit: noServer, drain: () => {}, stop: async () => {} },
    secrets: createSecretBox(new Uint8Array(32)),
    checkResponses: false,
  })
