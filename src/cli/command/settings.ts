import { Option } from 'commander'
import { flagOf, SETTINGS, type SettingName } from '../../config.ts'

/** The settings that the help of every command shows. */
const COMMON: readonly SettingName[] = ['DATA_DIR', 'DATABASE_URL', 'LOG_LEVEL', 'LOG_FORMAT']

/** A flag for each setting. */
export const settingOptions = (): Option[] =>
  SETTINGS.map(({ name, help }) =>
    new Option(`${flagOf(name)} <value>`, help).helpGroup('Settings, each also an environment variable:'),
  )

/** Whether the help of every command shows this option of the program. */
export const isCommon = (option: Option): boolean =>
  option.long === '--json' || COMMON.some((name) => flagOf(name) === option.long)
