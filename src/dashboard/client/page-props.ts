import type { WhoAmI } from '../../whoami/model.ts'
import type { Route } from './links.ts'

/** What every page gets. */
export interface PageProps {
  route: Route
  who: WhoAmI
}
