import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { OperatorError } from '../base/errors.ts'

/** The driver's option `ssl`: no TLS, TLS if the server offers it, or TLS with these options. */
type Tls = false | 'prefer' | ConnectionOptions

const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/**
 * Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey` of a PostgreSQL URL, with libpq's meaning, and
 * removes them: the driver would send them to the server as settings. Throws OperatorError on an unknown mode
 * or a file that cannot be read.
 */
export function tlsOf(url: URL): Tls {
  const [mode, rootCert, cert, key] = PARAMETERS.map((name) => url.searchParams.get(name))
  for (const name of PARAMETERS) url.searchParams.delete(name)
  const files = {
    ...(rootCert && rootCert !== 'system' ? { ca: readPem('sslrootcert', rootCert) } : {}),
    ...(cert ? { cert: readPem('sslcert', cert) } : {}),
    ...(key ? { key: readPem('sslkey', key) } : {}),
  }
  switch (mode ?? (rootCert === 'system' ? 'verify-full' : 'prefer')) {
    case 'disable':
      return false
    case 'allow':
    case 'prefer':
      return 'prefer'
    case 'require':
      // libpq does the same: with a root certificate `require` checks the chain
      return rootCert ? verifyCa(files) : { ...files, rejectUnauthorized: false }
    case 'verify-ca':
      return verifyCa(files)
    case 'verify-full':
      return { ...files, rejectUnauthorized: true }
    default:
      throw new OperatorError(
        `DATABASE_URL has sslmode=${mode}: it must be disable, allow, prefer, require, verify-ca or verify-full`,
      )
  }
}

function verifyCa(files: ConnectionOptions): ConnectionOptions {
  return { ...files, rejectUnauthorized: true, checkServerIdentity: () => undefined }
}

function readPem(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OperatorError(`DATABASE_URL has ${parameter}=${path}, which cannot be read: ${String(error)}`)
  }
}
