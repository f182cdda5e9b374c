import { grants, type Need } from '../keys/model.ts'
import type { Access, Admission } from './admission.ts'
import type { CachedResponse } from './responses/cached-response.ts'
import { mentionsCsv } from './responses/csv.ts'
import type { KnownUrl, ResponseCache } from './responses/response-cache.ts'

// A GET that was answered from the response cache before needs no router, no validation and no handler: its URL says
// which response it is. Only the key, the scope, the limit and the version are checked, as on every request.

/** A longer one is left to the routes. */
const MAX_URL_LENGTH = 512

/** A request that the cache may answer: who asks and for which response. */
export interface Recognized {
  access: Access
  known: KnownUrl
}

export interface HotPath {
  /** Undefined for a request that the routes must answer. `target` is its path and query. */
  recognize(request: Request, target: string): Recognized | undefined
  /** Remembers that `target` is this response, if it is kept, for whoever of the organization has the scope. */
  remember(orgId: string, target: string, scope: Need, route: string, response: CachedResponse): void
}

export function createHotPath(admission: Admission, cache: ResponseCache): HotPath {
  return {
    recognize(request, target) {
      // which response a URL is was learnt from requests for JSON
      if (request.method !== 'GET' || mentionsCsv(request.headers.get('accept'))) return undefined
      const access = admission.recognize(request)
      // what others were answered may name members
      if (access === undefined || access.hidesMembers) return undefined
      const known = cache.findUrl(`${access.orgId} ${target}`)
      return known !== undefined && grants(access.scopes, known.scope) ? { access, known } : undefined
    },
    remember(orgId, target, scope, route, response) {
      const isJson = response.source.contentType === undefined
      if (isJson && target.length <= MAX_URL_LENGTH) {
        cache.addUrl(`${orgId} ${target}`, scope, route, response)
      }
    },
  }
}
