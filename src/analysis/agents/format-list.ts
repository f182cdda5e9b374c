// Lists the formats of all agents, whose readers are in formats/, and finds them by agent or name.

import { CLAUDE_CODE, CLAUDE_STREAM } from './formats/claude-formats.ts'
import { CODEX, CODEX_EXEC } from './formats/codex-formats.ts'
import { CLINE, KILO_CODE, ROO_CODE } from './formats/editor/cline.ts'
import { CURSOR } from './formats/editor/cursor.ts'
import { ZED } from './formats/editor/zed.ts'
import type { Format } from './formats/format.ts'
import { GEMINI } from './formats/gemini.ts'
import { OPENCODE } from './formats/opencode-storage.ts'
import { AMP } from './formats/terminal/amp.ts'
import { COPILOT } from './formats/terminal/copilot.ts'
import { DROID } from './formats/terminal/droid.ts'
import { GOOSE } from './formats/terminal/goose.ts'
import { KIMI } from './formats/terminal/kimi.ts'
import { KIMI_CLI } from './formats/terminal/kimi-cli.ts'
import { PI } from './formats/terminal/pi.ts'
import { QWEN } from './formats/terminal/qwen.ts'

/** All formats, in the order in which they are tried: Kilo Code has the tables of OpenCode, and the tasks of Cline. */
export const FORMATS: readonly Format[] = [
  CODEX,
  COPILOT,
  PI,
  DROID,
  QWEN,
  KIMI,
  KIMI_CLI,
  CODEX_EXEC,
  CLAUDE_CODE,
  GEMINI,
  CLAUDE_STREAM,
  GOOSE,
  ZED,
  CURSOR,
  ROO_CODE,
  KILO_CODE,
  OPENCODE,
  AMP,
  CLINE,
]

export const formatAgent = ({ name, agent = name }: Format): string => agent

/** The format of a name, which an earlier run may have noted of a file. */
export function formatNamed(name: string): Format {
  const format = FORMATS.find((each) => each.name === name)
  if (format === undefined) throw new Error(`no format has the name ${name}`)
  return format
}
