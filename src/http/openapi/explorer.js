// Runs in the explorer's page, before it calls SwaggerUIBundle when everything is loaded, with options that are JSON.

const dark = matchMedia('(prefers-color-scheme: dark)')
// the dashboard's choice, else the system's
const applyTheme = () => {
  const theme = localStorage.getItem('cloud-analytics-theme')
  const isDark = theme === null ? dark.matches : theme === 'dark'
  document.documentElement.classList.toggle('dark-mode', isDark)
}
applyTheme()
dark.addEventListener('change', applyTheme)
addEventListener('storage', applyTheme)

// The key is kept for the tab, so that reloading the page does not ask for it again; no other tab or visit has it.
const STORED = 'cloud-analytics.key'
const keepKey = (authorize) => (given) => {
  const key = given.apiKey?.value
  if (typeof key === 'string') sessionStorage.setItem(STORED, key)
  return authorize(given)
}
const forgetKey = (logout) => (names) => {
  sessionStorage.removeItem(STORED)
  return logout(names)
}

// Swagger UI names these fields only by what is shown beside them, and leaves wide examples to the mouse
const completePage = () => {
  for (const field of document.querySelectorAll(':is(select, textarea):not([aria-label])')) {
    const other = field.id === 'servers' ? 'Server' : 'Body'
    field.setAttribute('aria-label', field.closest('tr')?.dataset.paramName ?? other)
  }
  for (const example of document.querySelectorAll('.microlight:not([tabindex])')) example.tabIndex = 0
}
new MutationObserver(completePage).observe(document, { childList: true, subtree: true })

/** The document with only what is at the path, as `['paths', '/v1/quality', 'get']`, and the components that it refers to. */
const excerptOf = (spec, [section, name]) => {
  const components = { securitySchemes: spec.components.securitySchemes }
  const excerpt = { ...spec, paths: {}, webhooks: {}, components }
  const addComponents = (value) => {
    for (const [key, inner] of Object.entries(value ?? {})) {
      if (typeof inner === 'object') addComponents(inner)
      if (key !== '$ref') continue
      const [, , kind, id] = inner.split('/')
      if (components[kind]?.[id] !== undefined) continue
      components[kind] = { ...components[kind], [id]: spec.components[kind][id] }
      addComponents(components[kind][id])
    }
  }
  excerpt[section][name] = spec[section][name]
  addComponents(excerpt[section][name])
  return excerpt
}
// Swagger UI prepares all of the document that it is given again for each operation that is opened, which takes seconds
const resolveExcerpts = ({ fn: { resolveSubtree } }) => ({
  fn: {
    resolveSubtree: (spec, path, options) =>
      resolveSubtree(path.length < 2 ? spec : excerptOf(spec, path), path, options),
  },
})

const makeExplorer = window.SwaggerUIBundle
window.SwaggerUIBundle = (options) =>
  makeExplorer({
    ...options,
    validatorUrl: null,
    // clients of MCP must take both types, and Swagger UI asks for one
    requestInterceptor: (request) => {
      if (request.url.endsWith('/mcp')) request.headers.Accept = 'application/json, text/event-stream'
      return request
    },
    plugins: [
      resolveExcerpts,
      () => ({
        statePlugins: { auth: { wrapActions: { authorize: keepKey, logout: forgetKey } } },
        // a link inside the button that opens an operation is read as neither
        components: { DeepLink: ({ text }) => text },
      }),
    ],
    onComplete() {
      const key = sessionStorage.getItem(STORED)
      if (key !== null) window.ui.preauthorizeApiKey('apiKey', key)
    },
  })
