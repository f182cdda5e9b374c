import { Option } from 'commander'
import { flagOf, SETTINGS, type SettingName } from '../../config.ts'
import { secret } from './option-parsers.ts'

/** Settings are options of every command too. These are shown by the help of each. */
const COMMON: readonly SettingName[] = ['DATA_DIR', 'DATABASE_URL', 'LOG_LEVEL', 'LOG_FORMAT']

const SECRET: readonly SettingName[] = ['DATABASE_URL', 'OIDC_CLIENT_SECRET', 'SECRET_KEY']

const HELP_GROUP = 'Settings, each also an environment variable (a secret also as @FILE):'
const ENV_FILE = '--env-file'

/** A flag for each setting, and one for a file of them. */
export const settingOptions = (): Option[] => [
  ...SETTINGS.map(({ name, help }) => {
    const option = new Option(`${flagOf(name)} <value>`, help)
    if (SECRET.includes(name)) option.argParser(secret)
    return option.helpGroup(HELP_GROUP)
  }),
  new Option(`${ENV_FILE} <file>`, "file of settings as systemd's EnvironmentFile (ENV_FILE)").helpGroup(
    HELP_GROUP,
  ),
]

/** The settings that `demo` does not use: its database is of its own. */
const NOT_OF_DEMO: readonly SettingName[] = ['DATA_DIR', 'DATABASE_URL']

/** Whether the help of the command shows this option of the program: `serve` and `demo` use all settings. */
export function isShownFor(command: string, option: Option): boolean {
  const isOneOf = (names: readonly SettingName[]) => names.some((name) => flagOf(name) === option.long)
  if (command === 'serve') return option.long !== '--version'
  if (command === 'demo') return option.long !== '--version' && !isOneOf(NOT_OF_DEMO)
  return option.long === '--json' || option.long === ENV_FILE || isOneOf(COMMON)
}
