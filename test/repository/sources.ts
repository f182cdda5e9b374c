import { dirname, join, normalize } from 'node:path'

export const ROOT = join(import.meta.dir, '../..')

export interface Source {
  /** The path below the folder that is read. */
  path: string
  text: string
  /** Every file of ours that it names in an import or a re-export, types included. */
  imports: string[]
  /** Its imports at run time: our files as paths, packages by name. */
  loads: string[]
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*'(\.[^']+)'|(?:^|\n)import\s*'(\.[^']+)'|\bimport\('(\.[^']+)'\)/g

const transpilers = {
  ts: new Bun.Transpiler({ loader: 'ts' }),
  tsx: new Bun.Transpiler({ loader: 'tsx' }),
}

/** Reads the TypeScript files below a folder of the repository, in the order of their paths. */
export function readSources(folder: string): Promise<Source[]> {
  const read = async (path: string): Promise<Source> => {
    const text = await Bun.file(join(ROOT, folder, path)).text()
    const resolved = (target: string) =>
      target.startsWith('.') ? normalize(join(dirname(path), target)) : target
    const imports = [...text.matchAll(IMPORT)].map((match) =>
      resolved(match[1] ?? match[2] ?? match[3] ?? ''),
    )
    const transpiler = transpilers[path.endsWith('.tsx') ? 'tsx' : 'ts']
    const loads = path.endsWith('.d.ts')
      ? []
      : transpiler.scanImports(text).map(({ path: target }) => resolved(target))
    return { path, text, imports: imports.filter((target) => /\.tsx?$/.test(target)), loads }
  }
  return Promise.all([...new Bun.Glob('**/*.{ts,tsx}').scanSync(join(ROOT, folder))].sort().map(read))
}

/** The circles that imports make, each as `a → b → a`. */
export function circlesOf(sources: readonly Source[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (trail.includes(path) || done.has(path)) return
    for (const target of byPath.get(path)?.imports ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const { path } of sources) visit(path, [])
  return circles
}
