import type { DerivedTable } from '../../database/derived-tables.ts'
import { DIRECTORIES, SESSION_ROLLUPS } from './rollup.ts'

/** The rollups of sessions. */
export const SESSION_TABLES: readonly DerivedTable[] = SESSION_ROLLUPS

/** Computing these reads the details of all sessions. */
export const ACTIVITY_TABLES: readonly DerivedTable[] = [DIRECTORIES]
