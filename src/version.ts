import { version } from '../package.json'

/** The version of this build, from package.json. */
export const VERSION = version
