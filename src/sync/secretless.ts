import { withoutSecrets } from '../scoring/masking.ts'
import { scanRecord } from '../scoring/secrets.ts'
import type { SyncRecord } from './records.ts'

/** Scanning many sessions takes a while; other requests get a turn this often. */
const YIELD_AFTER_MS = 20

/**
 * The records as they may be stored: secrets in their texts replaced by their kinds. A session without
 * `security_metadata` gets it from what was found in it.
 */
export async function secretless(records: readonly SyncRecord[]): Promise<readonly SyncRecord[]> {
  const scanned: SyncRecord[] = []
  let since = performance.now()
  for (const record of records) {
    const isScanned = record.type === 'session' && record.security_metadata == null
    scanned.push(
      isScanned ? { ...record, security_metadata: { findings: await scanRecord(record) } } : record,
    )
    if (performance.now() - since > YIELD_AFTER_MS) {
      await Bun.sleep(0)
      since = performance.now()
    }
  }
  return await withoutSecrets(scanned)
}
