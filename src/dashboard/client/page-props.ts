import type { WhoAmI } from '../../features/whoami/model.ts'
import type { Route } from './links.ts'

/** Every page and every section of the settings gets these. */
export interface PageProps {
  route: Route
  who: WhoAmI
}

/** Whether the reader may change everything; a developer has keys of their own. */
export const isAdmin = ({ scopes }: WhoAmI): boolean => scopes.includes('admin')
