/** The agents whose sessions are read: those of the formats, which the server has in the intake thread only. */
export const AGENTS: readonly string[] = [
  ...['codex', 'copilot', 'pi', 'droid', 'qwen', 'kimi', 'claude-code', 'gemini', 'goose', 'zed', 'cursor'],
  ...['roo-code', 'kilo-code', 'opencode', 'amp', 'cline'],
]
