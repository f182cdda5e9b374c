import type { FieldProblem } from './errors.ts'

/**
 * Adds to `problems`, up to `most`, every string in `value` that PostgreSQL cannot store: with NUL, or with half of a
 * surrogate pair. Names of fields count too.
 */
export function findUnstorable(value: unknown, field: string, problems: FieldProblem[], most: number): void {
  if (problems.length >= most) return
  if (typeof value === 'string') {
    if (value.isWellFormed() && !value.includes('\0')) return
    problems.push({ field: field || 'body', message: 'must not contain NUL or unpaired surrogates' })
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) findUnstorable(item, `${field}[${index}]`, problems, most)
  } else if (value !== null && typeof value === 'object') {
    for (const [name, item] of Object.entries(value)) {
      findUnstorable(name, field, problems, most)
      findUnstorable(item, field === '' ? name : `${field}.${name}`, problems, most)
    }
  }
}
