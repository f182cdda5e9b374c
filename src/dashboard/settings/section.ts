import type { WhoAmI } from '../../whoami/model.ts'

/** What every section gets. */
export interface SectionProps {
  who: WhoAmI
  query: URLSearchParams
}

/** Whether the reader may change everything; a developer has keys of their own. */
export const isAdmin = ({ scopes }: WhoAmI): boolean => scopes.includes('admin')
