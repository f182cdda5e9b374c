/** Kept for the tab only, and shared with the API explorer, which opens in the same tab. */
const NAME = 'cloud-analytics.key'
/** The key is kept as long as the page if the browser refuses storage. */
let kept: string | null = null

export function readKey(): string | null {
  try {
    return sessionStorage.getItem(NAME) ?? kept
  } catch {
    return kept
  }
}

export function keepKey(key: string): void {
  kept = key
  try {
    sessionStorage.setItem(NAME, key)
  } catch {
    // a reload asks for it again then
  }
}

export function forgetKey(): void {
  kept = null
  try {
    sessionStorage.removeItem(NAME)
  } catch {
    // nothing was stored
  }
}
