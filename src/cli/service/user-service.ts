// The types of a service of a user, one for each platform: its file, and the commands of the platform's service manager.

export interface ServiceOptions {
  server?: true
  print?: true
  databaseUrlFile?: string
}

export interface Program {
  /** The executable and its arguments. */
  words: readonly [string, ...string[]]
  /** Variables of its environment beside those that the manager sets. */
  environment: Readonly<Record<string, string>>
}

export interface UserService {
  name: string
  path: string
  text: string
  /** The bytes of the file where they are not the text in UTF-8. */
  bytes?: Uint8Array
  /** Make it run, now and at each login; the file is written. */
  load: readonly string[][]
  /** Stop it; the file is still there. What fails is ignored: it may not be loaded. */
  unload: readonly string[][]
  /** Commands to run after the file was deleted. */
  forget: readonly string[][]
  /** Succeeds where it is loaded. */
  status: readonly string[]
  /** Whether the output of `status` says that it runs. */
  isRunning: (output: string) => boolean
}
