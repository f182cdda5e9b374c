/** Kept for the tab only, and shared with the API explorer, which opens in the same tab. */
const NAME = 'cloud-analytics.key'

export const readKey = (): string | null => sessionStorage.getItem(NAME)
export const keepKey = (key: string): void => sessionStorage.setItem(NAME, key)
export const forgetKey = (): void => sessionStorage.removeItem(NAME)
