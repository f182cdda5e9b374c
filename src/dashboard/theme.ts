/** `light` or `dark` as chosen in this browser; else as its system has it. */
const NAME = 'cloud-analytics-theme'
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const readTheme = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(NAME)) ?? 'system'

export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') {
    localStorage.removeItem(NAME)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(NAME, theme)
    document.documentElement.dataset.theme = theme
  }
}
