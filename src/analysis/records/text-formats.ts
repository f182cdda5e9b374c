// The formats of texts that schemas name, known to TypeBox in every thread that imports this file.

import { FormatRegistry } from '@sinclair/typebox'
import { isDate, isTime, isTimestamp, isTimeZone } from '../../base/dates.ts'
import { MAX_PATH_BYTES } from './commit.ts'

FormatRegistry.Set('timestamp', isTime)
// parts of a session are compared as they were sent
FormatRegistry.Set('exact-timestamp', isTimestamp)
FormatRegistry.Set('date', isDate)
FormatRegistry.Set('day', isDate)
FormatRegistry.Set('month', (text) => /^\d{4}-\d{2}$/.test(text) && isDate(`${text}-01`))
FormatRegistry.Set('time-zone', isTimeZone)
// an index holds path, project and hash together, and an entry of it has at most 2,700 bytes
FormatRegistry.Set('repository-path', (text) => Buffer.byteLength(text) <= MAX_PATH_BYTES)
// one @ with text before and after it, no spaces: whether mail can be delivered is not checked
FormatRegistry.Set('email', (text) => /^[^\s@]+@[^\s@]+$/.test(text))
