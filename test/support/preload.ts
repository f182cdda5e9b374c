// Before any test the embedded PostgreSQL must be packed, which costs some milliseconds when it is. After the last one
// the test server ends.

import { afterAll } from 'bun:test'
import { hostTarget, pack } from '../../src/build/pack.ts'
import { packFiles } from '../../src/build/pack-files.ts'
import { stopTestServer } from './postgres.ts'

await pack(hostTarget())
packFiles()

afterAll(stopTestServer)
