/** Values of the browser's storage, such as the API key of the tab. One that it refuses is kept as long as the page. */
const values = new Map<string, string>()

/** A value that a browser keeps: for the tab in `sessionStorage`, for all tabs in `localStorage`. */
export const storedAs = (name: string, storageOf: () => Storage) => ({
  read(): string | null {
    try {
      return storageOf().getItem(name) ?? values.get(name) ?? null
    } catch {
      return values.get(name) ?? null
    }
  },
  /** Null forgets it. */
  write(value: string | null): void {
    if (value === null) values.delete(name)
    else values.set(name, value)
    try {
      if (value === null) storageOf().removeItem(name)
      else storageOf().setItem(name, value)
    } catch {
      // the page has it
    }
  },
})

/** The API key of this tab. The explorer, which opens in the same tab, has it too. */
export const apiKey = storedAs('cloud-analytics.key', () => sessionStorage)
