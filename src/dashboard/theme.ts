import { storedAs } from './client/storage.ts'

// Light or dark, as chosen or as the system has it.

const stored = storedAs('cloud-analytics-theme', () => localStorage)
/** `light` or `dark` as chosen in this browser; else as its system has it. */
export const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

export const readTheme = (): Theme => THEMES.find((theme) => theme === stored.read()) ?? 'system'

export function applyTheme(theme: Theme = readTheme()): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
  stored.write(theme === 'system' ? null : theme)
}
