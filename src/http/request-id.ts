import { randomLowerAlnum } from '../ids.ts'

const VALID_ID = /^[A-Za-z0-9._-]{1,128}$/
const INSTANCE = randomLowerAlnum(12)
let made = 0

/** The caller's X-Request-Id when it is valid, else a new one: unique, not secret. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id')
  if (given !== null && VALID_ID.test(given)) return given
  made += 1
  return `${INSTANCE}-${made.toString(36)}`
}
