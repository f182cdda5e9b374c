import type { WhoAmI } from '../../whoami/model.ts'
import type { Route } from './links.ts'

/** Every page gets these. */
export interface PageProps {
  route: Route
  who: WhoAmI
}
