import type { Api, Operation } from './document.ts'

// Functions that the emitters of the three languages share.

const WIDTH = 110

/** The first line of a generated file, as a comment. */
export const HEADER = (comment: string): string =>
  `${comment} Made of the API's document by \`bun run clients\`; do not edit.`

/** Words joined to lines of at most 110 characters, each with `indent`; `end` follows every line but the last. */
export function filled(words: readonly string[], separator: string, indent: string, end: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    const longer = line === '' ? `${indent}${word}` : `${line}${separator}${word}`
    if (line !== '' && longer.length > WIDTH) {
      lines.push(line + end)
      line = `${indent}${word}`
    } else line = longer
  }
  return line === '' ? lines : [...lines, line]
}

/** The operations by resource, in the order of the table; the client's own come last. */
export function resourcesOf({ operations }: Api): Map<string, Operation[]> {
  const resources = new Map<string, Operation[]>()
  for (const operation of [
    ...operations.filter((one) => one.resource !== ''),
    ...operations.filter((one) => one.resource === ''),
  ])
    resources.set(operation.resource, [...(resources.get(operation.resource) ?? []), operation])
  return resources
}

/** The resources right below this one; those of the client itself below an empty name. */
export const childrenOf = (resources: ReadonlyMap<string, unknown>, resource: string): string[] =>
  [...resources.keys()].filter(
    (child) => child !== '' && child.split('.').slice(0, -1).join('.') === resource,
  )
