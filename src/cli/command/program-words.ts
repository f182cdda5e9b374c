/** The words that start this program: the executable, from source Bun with the entry point. */
export const programWords = (): [string, ...string[]] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]
