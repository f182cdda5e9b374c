// Names of the libraries for the operations of the API's document. A resource's key is its path in the client
// (`webhooks.deliveries`); '' is the client itself. Parameters of paths are `{}`, whatever the document calls them.

export const METHODS: Record<string, Record<string, string>> = {
  '': { sync: 'POST /v1/sync', whoami: 'GET /v1/whoami', attention: 'GET /v1/attention' },
  sessions: {
    list: 'GET /v1/sessions',
    get: 'GET /v1/sessions/{}',
    delete: 'DELETE /v1/sessions/{}',
  },
  projects: { list: 'GET /v1/projects' },
  models: { list: 'GET /v1/models' },
  agents: { list: 'GET /v1/agents' },
  quality: { get: 'GET /v1/quality', trend: 'GET /v1/quality/trend' },
  cost: {
    get: 'GET /v1/cost',
    breakdown: 'GET /v1/cost/breakdown',
    explain: 'GET /v1/cost/explain',
    first_days: 'GET /v1/cost/first-days',
    price_guess: 'GET /v1/cost/price-guess',
    trend: 'GET /v1/cost/trend',
  },
  effects: {
    list: 'GET /v1/effects',
    get: 'GET /v1/effects/{}',
    create: 'POST /v1/effects',
    update: 'PATCH /v1/effects/{}',
    delete: 'DELETE /v1/effects/{}',
    arm: 'GET /v1/effects/{}/arm',
  },
  notes: { list: 'GET /v1/notes', create: 'POST /v1/notes', delete: 'DELETE /v1/notes/{}' },
  security: { get: 'GET /v1/security', heatmap: 'GET /v1/security/heatmap' },
  findings: { list: 'GET /v1/findings', update: 'PATCH /v1/findings/{}' },
  audit: { list: 'GET /v1/audit', report: 'GET /v1/audit/report' },
  team: {
    get: 'GET /v1/team',
    expertise: 'GET /v1/team/expertise',
    machines: 'GET /v1/team/machines',
    coverage: 'GET /v1/team/coverage',
  },
  risk: { list: 'GET /v1/risk', get: 'GET /v1/risk/{}' },
  outcomes: { list: 'GET /v1/outcomes' },
  webhooks: {
    list: 'GET /v1/webhooks',
    create: 'POST /v1/webhooks',
    get: 'GET /v1/webhooks/{}',
    update: 'PATCH /v1/webhooks/{}',
    delete: 'DELETE /v1/webhooks/{}',
    rotate_secret: 'POST /v1/webhooks/{}/rotate-secret',
    test: 'POST /v1/webhooks/{}/test',
    recover: 'POST /v1/webhooks/{}/recover',
    retry: 'POST /v1/webhooks/{}/retry',
    events: 'GET /v1/webhooks/events',
  },
  'webhooks.deliveries': deliveriesOf('webhooks'),
  badges: {
    quality: 'GET /api/badge/{}/quality',
    security: 'GET /api/badge/{}/security',
    cost: 'GET /api/badge/{}/cost',
    quality_json: 'GET /api/badge/{}/quality.json',
    security_json: 'GET /api/badge/{}/security.json',
    cost_json: 'GET /api/badge/{}/cost.json',
  },
  service: { health: 'GET /health', ready: 'GET /ready', live: 'GET /live', server: 'GET /v1/server' },
  keys: {
    list: 'GET /v1/keys',
    create: 'POST /v1/keys',
    get: 'GET /v1/keys/{}',
    rotate: 'POST /v1/keys/{}/rotate',
    revoke: 'DELETE /v1/keys/{}',
  },
  members: {
    list: 'GET /v1/members',
    create: 'POST /v1/members',
    update: 'PATCH /v1/members/{}',
    delete: 'DELETE /v1/members/{}',
    invite: 'POST /v1/members/{}/invitation',
    invite_many: 'POST /v1/members/invitations',
  },
  organization: {
    get: 'GET /v1/organization',
    update: 'PATCH /v1/organization',
    new_badge_token: 'POST /v1/organization/badge-token',
  },
  budgets: {
    list: 'GET /v1/budgets',
    mine: 'GET /v1/budgets/mine',
    set: 'PUT /v1/budgets/{}',
    delete: 'DELETE /v1/budgets/{}',
  },
  plans: {
    list: 'GET /v1/plans',
    create: 'POST /v1/plans',
    update: 'PATCH /v1/plans/{}',
    delete: 'DELETE /v1/plans/{}',
  },
  seats: { list: 'GET /v1/seats', mine: 'GET /v1/seats/mine' },
  alerts: managed('alerts'),
  'alerts.deliveries': deliveriesOf('alerts'),
  digests: managed('digests'),
  'digests.deliveries': deliveriesOf('digests'),
}

/** The libraries have no stream, and no telemetry, which exporters send. */
export const WITHOUT_METHOD = ['GET /v1/changes', 'POST /v1/logs', 'POST /v1/metrics', 'POST /v1/traces']

/** Parts of a session's record that few send by hand: any object is taken, and the server checks it. */
export const LOOSE = /^SessionRecord(TurnRecord|Observation|Analysis|QualityMetadata|SecurityMetadata)$/

/** Names of objects and enumerations that have none in the document, by the place where they are met first. */
export const TYPE_NAMES: Record<string, string> = {
  ProjectsListParams: 'PageParams',
  QualityGetParams: 'RangeParams',
  QualityTrendParams: 'TrendParams',
  BadgesQualityParams: 'BadgeParams',
  TurnTokens: 'Tokens',
  TurnToolCall: 'ToolCall',
  SessionDetailTokens: 'SessionTokens',
  RiskScoreContributions: 'RiskContributions',
  RiskContributionsImpact: 'Contribution',
  QualityMetadataFactor: 'QualityFactor',
  ListedFindingMember: 'SessionMember',
  BreakdownItemPrevious: 'PreviousRange',
  OutcomeSurvival14: 'SurvivingLines',
  WhoAmIKeyScope: 'Scope',
  MemberRecordRole: 'Role',
  SessionRecordVendor: 'Vendor',
  SeatsListVerdict: 'SeatVerdict',
  FindingSeverity: 'Severity',
  BadgesQualityStyle: 'BadgeStyle',
  CommitRecordFileStatus: 'FileStatus',
  CommitRecordAiProvenance: 'Provenance',
  ReportRecordReportType: 'ReportType',
  SessionsListSort: 'SessionSort',
  CostBreakdownBy: 'BreakdownBy',
  CostBreakdownSort: 'BreakdownSort',
  CostTrendGranularity: 'CostGranularity',
  RiskListRating: 'Rating',
  OutcomesListBy: 'OutcomesBy',
  WebhooksDeliveriesListStatus: 'DeliveryStatus',
  OrganizationSettingsBadgesLabels: 'BadgeLabels',
  OrganizationSettingsBadgesColors: 'BadgeColors',
  OrganizationSettingsBadgesThresholds: 'BadgeThresholds',
  OrganizationSettingsBadges: 'BadgeSettings',
  OrganizationSettingsRetentionPending: 'PendingRetention',
  OrganizationChangeBadgesLabels: 'BadgeLabelsChange',
  OrganizationChangeBadgesColors: 'BadgeColorsChange',
  OrganizationChangeBadgesThresholds: 'BadgeThresholdsChange',
  OrganizationChangeBadges: 'BadgesChange',
  NewWebhookEndpointEvent: 'SubscribedEvent',
  WebhookTestEvent: 'EventName',
  WebhooksDeliveriesListEvent: 'SentEvent',
}

function deliveriesOf(resource: string) {
  return {
    list: `GET /v1/${resource}/{}/deliveries`,
    get: `GET /v1/${resource}/{}/deliveries/{}`,
    redeliver: `POST /v1/${resource}/{}/deliveries/{}/redeliver`,
  }
}

function managed(resource: string) {
  return {
    list: `GET /v1/${resource}`,
    create: `POST /v1/${resource}`,
    get: `GET /v1/${resource}/{}`,
    update: `PATCH /v1/${resource}/{}`,
    delete: `DELETE /v1/${resource}/{}`,
    test: `POST /v1/${resource}/{}/test`,
  }
}
