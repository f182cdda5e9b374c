/**
 * The path before the server's own ones, with a slash at its end: PUBLIC_URL's, which the server writes into the page, else
 * empty, for URLs relative to the page's.
 */
export const basePath = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="base"]')?.content ?? ''

/** The server's address for other programs, without a slash at its end. */
export const serverUrl = (): string =>
  new URL(basePath() || '.', location.href.split('#')[0]).href.replace(/\/$/, '')

/** Whether the reader's machine is the server's: there the program may be that of a clone, which no PATH has. */
export const isOwnMachine = (): boolean =>
  /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(serverUrl()).hostname)

/** Sends what coding agents left on a disk to this server; in the folder of a clone by the program built there. */
export const syncCommand = (): string =>
  [
    ...(isOwnMachine() ? ['export PATH="$PWD/dist:$PATH"'] : []),
    `cloud-analytics login --server ${serverUrl()}`,
    'cloud-analytics sync',
  ].join('\n')

/** The page that the path names besides the dashboard: `accept`, `device` or `setup`; else empty. */
export const pageName = (): string => /\/(accept|device|setup)$/.exec(location.pathname)?.[1] ?? ''
