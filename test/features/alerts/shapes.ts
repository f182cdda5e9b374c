import Ajv from 'ajv'

// The shapes that Slack and Teams publish, as far as our messages use them: any other field or type is a mistake.
// https://docs.slack.dev/reference/block-kit/blocks, https://adaptivecards.io/explorer

const closed = (properties: object, optional: string[] = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength })

const SLACK = closed({
  text: text(40_000),
  blocks: {
    type: 'array',
    minItems: 1,
    maxItems: 50,
    items: {
      oneOf: [
        closed({
          type: { const: 'header' },
          text: closed({ type: { const: 'plain_text' }, text: text(150) }),
        }),
        closed({
          type: { const: 'section' },
          text: closed({ type: { const: 'mrkdwn' }, text: text(3_000), verbatim: { type: 'boolean' } }),
        }),
      ],
    },
  },
})

const OPEN_URL = closed({
  type: { const: 'Action.OpenUrl' },
  title: text(100),
  url: { type: 'string', pattern: '^https://' },
})
const TEXT_RUN = closed(
  {
    type: { const: 'TextRun' },
    text: { type: 'string' },
    weight: { enum: ['Default', 'Lighter', 'Bolder'] },
    size: { enum: ['Default', 'Small', 'Medium', 'Large', 'ExtraLarge'] },
    selectAction: OPEN_URL,
  },
  ['weight', 'size', 'selectAction'],
)
const CARD = closed(
  {
    $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
    type: { const: 'AdaptiveCard' },
    version: { const: '1.4' },
    body: {
      type: 'array',
      minItems: 1,
      items: closed({
        type: { const: 'RichTextBlock' },
        inlines: { type: 'array', minItems: 1, items: TEXT_RUN },
      }),
    },
    actions: { type: 'array', maxItems: 6, items: OPEN_URL },
  },
  ['actions'],
)
const TEAMS = closed({
  type: { const: 'message' },
  attachments: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: closed({
      contentType: { const: 'application/vnd.microsoft.card.adaptive' },
      contentUrl: { type: 'null' },
      content: CARD,
    }),
  },
})

const ajv = new Ajv()
/** Teams refuses larger messages. */
const MAX_TEAMS_BYTES = 28 * 1024

/** Finds what is wrong with the body of a message. */
export function problemsOf(kind: 'slack' | 'teams', body: string): string[] {
  const wrong = ajv.validate(kind === 'slack' ? SLACK : TEAMS, JSON.parse(body)) ? [] : [ajv.errorsText()]
  return kind === 'teams' && body.length > MAX_TEAMS_BYTES ? [...wrong, `${body.length} bytes`] : wrong
}

/** The lines that a person reads. */
export function linesOf(kind: 'slack' | 'teams', body: string): string[] {
  const message = JSON.parse(body)
  return kind === 'slack'
    ? message.blocks.map((block: { text: { text: string } }) => block.text.text)
    : message.attachments[0].content.body.map((block: { inlines: { text: string }[] }) =>
        block.inlines.map((run) => run.text).join(''),
      )
}
