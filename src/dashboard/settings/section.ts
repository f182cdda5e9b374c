import type { WhoAmI } from '../../whoami/model.ts'

/** Every section gets these. */
export interface SectionProps {
  who: WhoAmI
  query: URLSearchParams
}

/** Whether the reader may change everything; a developer has keys of their own. */
export const isAdmin = ({ scopes }: WhoAmI): boolean => scopes.includes('admin')
