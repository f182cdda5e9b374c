import { render } from 'preact'
import { App } from './app.tsx'
import { takeKeyOfLink } from './client/auth.ts'
import { applyTheme } from './theme.ts'

applyTheme()
takeKeyOfLink()
// a second link, opened in the same tab
addEventListener('hashchange', () => takeKeyOfLink() && location.reload())
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
