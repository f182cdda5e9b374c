// The settings by which coding agents send telemetry here, for people to paste. Each was tried with the agent itself
// (docs/sync.md).

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
  switch (agent) {
    case 'claude-code': {
      const env = {
        CLAUDE_CODE_ENABLE_TELEMETRY: '1',
        OTEL_LOGS_EXPORTER: 'otlp',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: authorization,
      }
      return [{ place: 'managed-settings.json or ~/.claude/settings.json', text: json({ env }) }]
    }
    case 'codex': {
      const exporter = `{ otlp-http = { endpoint = "${endpoint}/v1/logs", protocol = "binary", headers = { "authorization" = "Bearer ${key}" } } }`
      return [
        {
          place: '~/.codex/config.toml',
          text: `[otel]\nlog_user_prompt = false\nexporter = ${exporter}`,
        },
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
          OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
          OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
          OTEL_EXPORTER_OTLP_HEADERS: authorization,
        }),
      ]
    case 'opencode':
      return [
        {
          place: '~/.config/opencode/opencode.json',
          text: json({ experimental: { openTelemetry: true } }),
        },
        environment({
          OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
          OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
          OTEL_EXPORTER_OTLP_HEADERS: authorization,
        }),
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
