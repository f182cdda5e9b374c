/** The coding agents to whose settings the tools are added. */
export const AGENT_IDS = ['claude-code', 'codex', 'gemini', 'cursor', 'vscode'] as const
export type AgentId = (typeof AGENT_IDS)[number]
export const DEFAULT_AGENT: AgentId = 'claude-code'
