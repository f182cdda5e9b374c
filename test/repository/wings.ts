import { readSources } from './sources.ts'

// Prints the imports between the wings of src, from the top down: `bun test/repository/wings.ts`.

/** The folders and files directly below src. */
const wingOf = (path: string): string => path.split('/')[0] ?? path

const arrows = new Map<string, Map<string, number>>()
const files = new Map<string, number>()
for (const { path, imports } of await readSources('src')) {
  const from = wingOf(path)
  const targets = arrows.get(from) ?? new Map<string, number>()
  arrows.set(from, targets)
  files.set(from, (files.get(from) ?? 0) + 1)
  for (const to of imports.map(wingOf)) if (to !== from) targets.set(to, (targets.get(to) ?? 0) + 1)
}
const floorOf = (wing: string): number =>
  Math.max(-1, ...[...(arrows.get(wing)?.keys() ?? [])].map(floorOf)) + 1

const wings = [...arrows.keys()].sort((one, other) => floorOf(other) - floorOf(one))
for (const wing of wings) {
  const targets = [...(arrows.get(wing) ?? [])].sort(
    ([one], [other]) => wings.indexOf(one) - wings.indexOf(other),
  )
  const list = targets.map(([to, imports]) => `${to} ${imports}`).join(', ')
  process.stdout.write(`${floorOf(wing)}  ${wing} (${files.get(wing)} files) → ${list || 'nothing'}\n`)
}
const total = [...arrows.values()].reduce((sum, targets) => sum + targets.size, 0)
process.stdout.write(`${wings.length} wings, ${floorOf(wings[0] ?? '') + 1} floors, ${total} arrows\n`)
