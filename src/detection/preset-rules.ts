import type {
  SecretLintRuleContext as Context,
  SecretLintRuleCreator as Rule,
  SecretLintSourceCode as Source,
} from '@secretlint/types'

// Runs the rules of secretlint's recommended preset on a text. @secretlint/core, which does the same for files, compares
// every message with every other one: 48,000 key ids in 1 MB took 20 s. It also obeys comments that switch rules off.

/** What a rule reports: offsets into the text, end exclusive; `data` has the secret's text. */
export interface Report {
  ruleId: string
  messageId: string
  /** In English: `found GitHub Token(…): ghp_…`. */
  message: string
  data: Readonly<Record<string, unknown>>
  start: number
  end: number
}

const PREFIX = '@secretlint/secretlint-rule-'
/** Obeys comments such as `secretlint-disable`, which must not switch the search off. */
const IGNORED_RULE = `${PREFIX}filter-comments`
/** By rule. The rule for ids of AWS keys is off by default. */
const OPTIONS: Readonly<Record<string, object>> = { [`${PREFIX}aws`]: { enableIDScanRule: true } }

/** The preset's rules that search a text, which takes 20 ms and 10 MB to load. */
export async function loadPresetRules(): Promise<readonly Rule[]> {
  const preset = await import('@secretlint/secretlint-rule-preset-recommend')
  return preset.rules.filter(({ meta }) => meta.id !== IGNORED_RULE)
}

/** Reports of all rules, in the order of the rules. */
export async function reportsOf(presetRules: readonly Rule[], text: string): Promise<Report[]> {
  const reports: Report[] = []
  const source = sourceOf(text)
  for (const rule of presetRules) {
    const context = contextOf(rule.meta.id.replace(PREFIX, ''), (report) => reports.push(report))
    await rule.create(context, OPTIONS[rule.meta.id] ?? {}).file?.(source)
  }
  return reports
}

function contextOf(ruleId: string, add: (report: Report) => void): Context {
  return {
    sharedOptions: {},
    createTranslator: (messages) => (messageId, props) => ({
      messageId: String(messageId),
      message: messages[messageId]?.en(props) ?? String(messageId),
      data: props,
    }),
    report({ message: { messageId, message, data }, range: [start, end] }) {
      add({ ruleId, messageId, message, data: data ?? {}, start, end })
    },
    ignore() {},
  }
}

/** The rules read the content and the file's name only; a rule that needs positions fails visibly. */
function sourceOf(content: string): Source {
  const unsupported = () => {
    throw new Error('not supported: positions of a text')
  }
  return {
    hasBOM: false,
    content,
    filePath: 'text.txt',
    physicalFilePath: undefined,
    contentType: 'text',
    ext: '.txt',
    getFilePath: () => 'text.txt',
    getPhysicalFilePath: () => undefined,
    locationToRange: unsupported,
    rangeToLocation: unsupported,
    positionToIndex: unsupported,
    indexToPosition: unsupported,
  }
}
