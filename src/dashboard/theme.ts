// Keeps and applies what this browser's reader chose: light, dark, or as the system has it.

import { storedAs } from './client/storage.ts'

const stored = storedAs('cloud-analytics-theme', () => localStorage)
export const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

export const readTheme = (): Theme => THEMES.find((theme) => theme === stored.read()) ?? 'system'

export function applyTheme(theme: Theme = readTheme()): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
  stored.write(theme === 'system' ? null : theme)
}
