interface Route {
  method: string
  path: string
}

/** A function that lists the methods of a path's routes, sorted; empty for an unknown path. */
export function createAllowedMethods(routes: readonly Route[]): (path: string) => string[] {
  const patterns = Map.groupBy(routes, (route) => route.path)
  const compiled = [...patterns].map(([path, group]) => ({
    pattern: patternOf(path),
    methods: group.map((route) => route.method.toUpperCase()),
  }))
  return (path) => {
    const methods = new Set(
      compiled.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods),
    )
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].sort()
  }
}

function patternOf(path: string): RegExp {
  const source = path
    .split('/')
    .map((part) => {
      if (part === '*') return '.*'
      return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    })
    .join('/')
  return new RegExp(`^${source}$`)
}
