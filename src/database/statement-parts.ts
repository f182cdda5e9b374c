// Makes statements for reads of parts without the driver's promises, which takes less time.

import type { ISql, Sql } from './client.ts'

/** The parts and values of statements up to a place: those of the same parts share one text, of which the hash is known, too. */
class Shape {
  text?: string
  private readonly longer = new Map<unknown, Shape>()

  /** The shape with one more part, known by its strings, or one more value. */
  with(more: unknown): Shape {
    return this.longer.getOrInsertComputed(more, makeShape)
  }
}

/** Filters combine freely: the shapes that are kept at most, some 30 MB. */
const MAX_SHAPES = 20_000
let count = 0
const makeShape = () => {
  count += 1
  return new Shape()
}
let empty = new Shape()
const VALUE = Symbol('value')

/**
 * A statement or a part of one. The driver's parts are promises; a breakdown is made of sixty, which took more of the program's time
 * than all else of its request.
 */
class Part {
  constructor(
    private readonly sql: ISql,
    private readonly strings: readonly string[] | string,
    private readonly args: readonly unknown[],
  ) {}

  /** Adds the values to `parameters`. */
  after(before: Shape, parameters: unknown[]): Shape {
    let shape = before.with(this.strings)
    for (const arg of this.args) {
      if (arg instanceof Part) shape = arg.after(shape, parameters)
      else {
        parameters.push(arg)
        shape = shape.with(VALUE)
      }
    }
    return shape
  }

  /** The text with the next numbers for its values. */
  text(next: () => number): string {
    const { strings, args } = this
    if (typeof strings === 'string') return strings
    return strings.reduce((text, string, index) => {
      const arg = args[index - 1]
      return text + (arg instanceof Part ? arg.text(next) : `$${next()}`) + string
    })
  }

  query() {
    const parameters: unknown[] = []
    if (count > MAX_SHAPES) [empty, count] = [new Shape(), 0]
    const shape = this.after(empty, parameters)
    let nth = 0
    shape.text ??= this.text(() => ++nth)
    return this.sql.unsafe(shape.text, parameters as never[], { prepare: true, simple: false } as object)
  }

  // biome-ignore lint/suspicious/noThenProperty: it is sent when somebody waits for it, as the driver's
  then(...on: Parameters<Promise<unknown>['then']>) {
    return this.query().then(...(on as []))
  }
}

/** The same connections, whose statements are made with less work; for reads. */
export function lean<Connection extends ISql>(sql: Connection): Connection {
  const begin = (mode: string, work: (tx: ISql) => Promise<unknown>) =>
    (sql as unknown as Sql).begin(mode, (tx) => work(lean(tx)))
  const tag = (strings: TemplateStringsArray | string, ...args: unknown[]) =>
    new Part(sql, typeof strings === 'string' ? `"${strings.replaceAll('"', '""')}"` : strings, args)
  const unsafe = (text: string) => new Part(sql, text, [])
  return Object.assign(tag, { begin, unsafe }) as unknown as Connection
}
