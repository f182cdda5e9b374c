import type { ISql, Sql } from './client.ts'

/**
 * A statement or a part of one. The driver's parts are promises; a breakdown is made of sixty, which took more of the program's time
 * than all else of its request.
 */
class Part {
  constructor(
    private readonly sql: ISql,
    private readonly strings: readonly string[],
    private readonly args: readonly unknown[],
  ) {}

  /** The text with `$1`, `$2`, … for its parameters, which are added to `parameters`. */
  text(parameters: unknown[]): string {
    let text = this.strings[0] ?? ''
    for (const [index, arg] of this.args.entries()) {
      text += arg instanceof Part ? arg.text(parameters) : `$${parameters.push(arg)}`
      text += this.strings[index + 1]
    }
    return text
  }

  query() {
    const parameters: unknown[] = []
    return this.sql.unsafe(
      this.text(parameters),
      parameters as never[],
      { prepare: true, simple: false } as object,
    )
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
    new Part(sql, typeof strings === 'string' ? [`"${strings.replaceAll('"', '""')}"`] : strings, args)
  const unsafe = (text: string) => new Part(sql, [text], [])
  return Object.assign(tag, { begin, unsafe }) as unknown as Connection
}
