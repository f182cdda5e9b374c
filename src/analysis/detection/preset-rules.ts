// Runs the rules of secretlint's recommended preset on a text. @secretlint/core, which does the same for files, compares
// every message with every other one: 48,000 key ids in 1 MB took 20 s. It also obeys comments that switch rules off.

import type {
  SecretLintRuleContext as Context,
  SecretLintRuleCreator as Rule,
  SecretLintSourceCode as Source,
} from '@secretlint/types'
import { hasNeeded, type Needed, type Searched } from './prepare-text.ts'

/** A rule's report: offsets into the text, end exclusive; `data` has the secret's text. */
export interface Report {
  ruleId: string
  messageId: string
  /** English text: `found GitHub Token(…): ghp_…`. */
  message: string
  data: Readonly<Record<string, unknown>>
  start: number
  end: number
}

const PREFIX = '@secretlint/secretlint-rule-'
/** Obeys comments such as `secretlint-disable`, which must not switch the search off. */
const IGNORED_RULE = `${PREFIX}filter-comments`
const OPTIONS: Readonly<Record<string, object>> = { [`${PREFIX}aws`]: { enableIDScanRule: true } }

/** A rule finds nothing in a text that has none of its needs; each need is listed with the rules that have it. */
type NeededBy<Need> = readonly [Need, ...string[]]

/** The rules beside a need find something only in texts that have it, which is faster to tell. Fast rules have none. */
export const NEEDED: readonly NeededBy<Needed>[] = [
  // ids of AWS accounts, for which the rule searches too, are no secrets
  [/(?:CESS|cess)_?(?:KEY|key|Key)/, 'aws'],
  [['x-oauth-basic@', '_authToken='], 'npm'],
  [/:\/\/[-a-zA-Z0-9_]{1,256}:[-a-zA-Z0-9_]{1,256}@/, 'basicauth'],
  [['xox', 'xapp-'], 'slack'],
  // others of its tokens are long words
  [['ghs_'], 'github'],
  // mongodb, mongodb+srv, mysql, mysqlx, postgres, postgresql
  [/(?:db|es|lx|ql|rv):\/\//i, 'database-connection-string'],
  [['-----BEGIN'], 'privatekey'],
  [/SG\.\w{1,128}\./, 'sendgrid'],
]
/** The same for rules whose secrets are long words: they match the long words of such a text. */
export const NEEDED_WORDS: readonly NeededBy<RegExp>[] = [
  [/(?:A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA)[A-Z0-9]{16}/, 'aws'],
  // the ends of cfat_, cfut_, glsa_ and figd_: with four characters before each class it takes twice the time
  [
    /(?:cfk|fat|fut|glc|lsa|gsk|igd|npm|ntn|vc[aikpr])_[\w+/-]{20}/,
    'cloudflare',
    'figma',
    'grafana',
    'groq',
    'notion',
    'npm',
    'vercel',
  ],
  [/hooks\.slack/i, 'slack'],
  [/gh[opru]_|hub_pat_/, 'github'],
  [/glpat-/, 'gitlab'],
  [/T3BlbkFJ/, 'openai'],
  [/sk-ant-api0/, 'anthropic'],
  [/hf_[a-zA-Z]{34}/, 'huggingface'],
  [/lin_api_/, 'linear'],
  [/ops_ey[A-Za-z0-9+/=]{100}/, '1password'],
  [/hv[brs]\.[A-Za-z0-9_-]{90}/, 'hashicorp-vault'],
  [/dapi[A-Fa-f0-9]{32}/, 'databricks'],
  [/dckr_pat_/, 'docker'],
  [/key-[a-z]{2,20}-[0-9A-Za-z_]{8}/, 'tailscale'],
  [/[rs]k_(?:live|test)_[a-zA-Z0-9]{24}/, 'stripe'],
  [/shp(?:pa|ca|at|ss)_[a-zA-Z0-9]{32}/, 'shopify'],
]
const NEEDING = new Set(
  [...NEEDED, ...NEEDED_WORDS].flatMap(([, ...rules]) => rules.map((rule) => PREFIX + rule)),
)

/** The preset's rules that search a text, which takes 20 ms and 10 MB to load. */
export async function loadPresetRules(): Promise<readonly Rule[]> {
  const preset = await import('@secretlint/secretlint-rule-preset-recommend')
  return preset.rules.filter(({ meta }) => meta.id !== IGNORED_RULE)
}

/** The rules that can find something in a text. */
export function rulesFor(presetRules: readonly Rule[], searched: Searched): readonly Rule[] {
  const possible = new Set(
    [
      ...NEEDED.filter(([needed]) => hasNeeded(searched, needed)),
      ...NEEDED_WORDS.filter(([needed]) => needed.test(searched.words)),
    ].flatMap(([, ...rules]) => rules.map((rule) => PREFIX + rule)),
  )
  return presetRules.filter(({ meta }) => !NEEDING.has(meta.id) || possible.has(meta.id))
}

export async function reportsOf(rules: readonly Rule[], text: string): Promise<Report[]> {
  const reports: Report[] = []
  const source = sourceOf(text)
  for (const rule of rules) {
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
