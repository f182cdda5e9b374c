// The settings by which coding agents send telemetry here, to paste; each was tried with the agent (docs/sync.md).

export const TELEMETRY_AGENTS = ['claude-code', 'codex', 'gemini', 'qwen', 'copilot', 'opencode'] as const
export type TelemetryAgent = (typeof TELEMETRY_AGENTS)[number]

/** A piece of an agent's configuration. */
export interface AgentSetting {
  /** The file that it belongs to, or `environment`. */
  place: string
  text: string
}

/** `url`: where agents reach the server, without a slash at the end. */
export function settingsOf(agent: TelemetryAgent, url: string, key: string): AgentSetting[] {
  const authorization = `Authorization=Bearer ${key}`
  const endpoint = `${url}/otlp`
  const exporter = (protocol: string) => ({
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: authorization,
  })
  switch (agent) {
    case 'claude-code': {
      const env = {
        CLAUDE_CODE_ENABLE_TELEMETRY: '1',
        OTEL_LOGS_EXPORTER: 'otlp',
        OTEL_METRICS_EXPORTER: 'otlp',
        ...exporter('http/protobuf'),
      }
      return [{ place: 'managed-settings.json or ~/.claude/settings.json', text: json({ env }) }]
    }
    case 'codex': {
      const target = `{ otlp-http = { endpoint = "${endpoint}/v1/logs", protocol = "binary", headers = { "authorization" = "Bearer ${key}" } } }`
      return [
        { place: '~/.codex/config.toml', text: `[otel]\nlog_user_prompt = false\nexporter = ${target}` },
      ]
    }
    case 'gemini':
    case 'qwen': {
      const telemetry = {
        enabled: true,
        target: 'local',
        otlpEndpoint: endpoint,
        otlpProtocol: 'http',
        logPrompts: false,
      }
      return [
        { place: `~/.${agent}/settings.json`, text: json({ telemetry }) },
        environment({ OTEL_EXPORTER_OTLP_HEADERS: authorization }),
      ]
    }
    case 'copilot':
      return [
        environment({
          COPILOT_OTEL_ENABLED: 'true',
          COPILOT_OTEL_EXPORTER_TYPE: 'otlp-http',
          ...exporter('http/json'),
        }),
      ]
    case 'opencode':
      return [
        { place: '~/.config/opencode/opencode.json', text: json({ experimental: { openTelemetry: true } }) },
        environment(exporter('http/json')),
      ]
  }
}

const json = (value: object): string => JSON.stringify(value, null, 2)

const environment = (variables: Record<string, string>): AgentSetting => ({
  place: 'environment',
  text: Object.entries(variables)
    .map(([name, value]) => `export ${name}="${value}"`)
    .join('\n'),
})
