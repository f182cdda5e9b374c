/** `light` or `dark` as chosen in this browser; else as its system has it. */
const NAME = 'cloud-analytics-theme'
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export function readTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(NAME)) ?? 'system'
  } catch {
    // the browser refuses storage
    return 'system'
  }
}

export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  try {
    if (theme === 'system') localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, theme)
  } catch {
    // the choice holds for this page then
  }
}
