import { randomLowerAlnum } from '../ids.ts'

const VALID_ID = /^[A-Za-z0-9._-]{1,128}$/
const INSTANCE = randomLowerAlnum(12)
let count = 0

/** The client's X-Request-Id when it is valid, else a new id: unique, but not secret. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id')
  if (given !== null && VALID_ID.test(given)) return given
  count += 1
  return `${INSTANCE}-${count.toString(36)}`
}
