// Made of the API's document by `bun run clients`; do not edit.

import type { List, Page } from './core.d.ts'

export type Vendor = 'anthropic' | 'openai' | 'aws' | 'google' | 'github' | 'cursor' | 'openrouter' | 'other'
export type Role = 'owner' | 'admin' | 'developer' | 'auditor'
export type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed'
export type Provenance = 'none' | 'trailer' | 'transcript' | 'note'
export type ReportType = 'audit' | 'soc2' | 'iso27001' | 'custom'
export type EffectRecordKind = 'setting' | 'file' | 'training' | 'other' | 'assigned'
export type Scope = 'read' | 'write' | 'webhooks' | 'admin' | 'sessions:read' | 'quality:read' | 'cost:read' |
'security:read' | 'team:read' | 'audit:read' | 'risk:read' | 'sessions:write' | 'commits:write' | 'risk:write' |
'members:write' | 'budgets:write' | 'reports:write' | 'audit:write' | 'ingest'
export type AlertMetric = 'cost' | 'forecast' | 'budget_percent' | 'average_quality' | 'findings' |
'unpriced_tokens' | 'silent_machines' | 'failing_endpoints' | 'idle_seats' | 'limit_hits'
export type ListedFindingSeverity = 'critical' | 'high' | 'medium' | 'low'
export type ListedFindingStatus = 'open' | 'fixed' | 'accepted' | 'dismissed'
export type SessionSort = 'created_at' | 'estimated_cost' | 'turns' | 'quality_score'
export type BreakdownBy = 'project' | 'member' | 'team' | 'model' | 'agent' | 'branch' | 'ticket' | 'day' |
'week' | 'month' | 'version' | 'effort' | 'skill' | 'subagent' | 'mcp_server' | 'plugin' | 'tier' | 'vendor' |
'paid_by'
export type CostBreakdownTier = '' | 'standard' | 'fast' | 'flex' | 'priority' | 'batch' | 'long'
export type CostBreakdownVendor = '' | 'anthropic' | 'openai' | 'aws' | 'google' | 'github' | 'cursor' |
'openrouter' | 'other'
export type CostBreakdownPaidBy = '' | 'plan' | 'api' | 'unknown'
export type BreakdownSort = 'cost' | 'tokens' | 'sessions' | 'unpriced_tokens' | 'change' | 'key'
export type CostExplainBy = 'project' | 'member' | 'team' | 'model' | 'agent' | 'branch' | 'vendor'
export type ChangePartCause = 'prompts' | 'calls_per_prompt' | 'model_mix' | 'input_per_call' |
'output_per_call' | 'cache_read_per_call' | 'cache_write_per_call' | 'price' | 'undivided'
export type RangeFactKind = 'version' | 'model' | 'price' | 'budget' | 'note'
export type CostFirstDaysBy = 'project' | 'member' | 'team' | 'model' | 'agent' | 'branch'
export type CostGranularity = 'day' | 'week' | 'month' | 'year'
export type EffectsListVerdict = 'too_early' | 'too_few' | 'unchecked' | 'withheld' | 'not_seen' |
'drift_possible' | 'seen' | 'moved'
export type EffectsListKind = 'version' | 'model' | 'effort' | 'mcp_server' | 'skill' | 'cache_lifetime' |
'price' | 'setting' | 'file' | 'training' | 'other' | 'assigned'
export type EffectMeasure = 'cost_per_prompt' | 'cost_per_call' | 'failed_tool_share' | 'quality'
export type NewEffectKind = 'setting' | 'file' | 'training' | 'other'
export type Rating = 'low' | 'medium' | 'high' | 'critical'
export type OutcomesBy = 'month' | 'week' | 'project' | 'repo' | 'member' | 'team' | 'agent'
export type SubscribedEvent = 'session.completed' | 'quality.score_changed' | 'security.alert' |
'cost.budget_exceeded' | 'team.member_joined' | 'compliance.report_ready' | 'alert.fired' | 'alert.resolved' |
'digest.ready' | '*'
export type EventName = 'session.completed' | 'quality.score_changed' | 'security.alert' |
'cost.budget_exceeded' | 'team.member_joined' | 'compliance.report_ready' | 'alert.fired' | 'alert.resolved' |
'digest.ready'
export type DeliveryStatus = 'pending' | 'pending_retry' | 'success' | 'failed' | 'cancelled'
export type SentEvent = 'session.completed' | 'quality.score_changed' | 'security.alert' |
'cost.budget_exceeded' | 'team.member_joined' | 'compliance.report_ready' | 'alert.fired' | 'alert.resolved' |
'digest.ready' | 'webhook.test'
export type BadgeStyle = 'flat' | 'flat-square' | 'plastic' | 'for-the-badge' | 'social'
export type SeatVerdict = 'new' | 'idle' | 'limited' | 'low' | 'fits'
export type DigestWeekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday'

export interface PullRequest { repo: string; number: number }
export interface SessionRecordTokens {
 input?: number; output?: number; cache_read?: number; cache_creation?: number; cache_creation_1h?: number
}
export interface SessionRecordToolsUsed { name: string; calls?: number; errors?: number }
/** Of the agents’ lines in its landed commits, how much was there 14 and 30 days later */ export interface SessionRecordSurvival {
 '14': number | null; '30': number | null
}
export interface SessionRecord {
 type: 'session'; id: string; project_name: string | null; origin?: 'transcript' | 'telemetry' | 'both'
 includes?: string[]; created_at: string; user_id?: string; user_email?: string; source?: string
 branch?: string; pull_requests?: PullRequest[]; model?: string; models?: string[]; started_at?: string
 ended_at?: string; duration_seconds?: number; turns?: number; estimated_cost?: number
 cost_source?: 'reported' | 'estimated'; unpriced_tokens?: number; stated_cost?: number; version?: string
 effort?: string; vendor?: Vendor; paid_by?: 'plan' | 'api' | 'unknown'; quality_score?: number
 tokens?: SessionRecordTokens; tools_used?: SessionRecordToolsUsed[]; files_touched?: string[]
 summary?: string; turn_records?: Array<Record<string, unknown>>
 observations?: Array<Record<string, unknown>>; analysis?: Record<string, unknown>
 quality_metadata?: Record<string, unknown>; security_metadata?: Record<string, unknown>; landed?: boolean
 reverted?: boolean; survival?: SessionRecordSurvival; parts?: string
}
export interface MemberRecord {
 type: 'member'; email: string; display_name: string; role: Role; joined_at: string; team?: string
 aliases?: string[]; id?: string
}
export interface CommitRecordFile {
 path: string; additions: number; deletions: number; status: FileStatus; previous_path?: string
}
export interface CommitRecordAi {
 lines: number; effective_lines: number; by_agent: Record<string, number>; provenance: Provenance
 sessions: string[]
}
export interface CommitRecordSurvival { days: number; lines: number }
export interface CommitRecord {
 type: 'commit'; project: string; sha: string; author_email: string; author_name: string; committed_at: string
 subject?: string; files: CommitRecordFile[]; ai?: CommitRecordAi; survival?: CommitRecordSurvival[]
 on_default_branch?: boolean
}
export interface PrRiskRecordContributionsImpact { name: string; value: number; points: number }
export interface PrRiskRecordContributions {
 impact: PrRiskRecordContributionsImpact[]; regression: PrRiskRecordContributionsImpact[]
 security: PrRiskRecordContributionsImpact[]; coupling: PrRiskRecordContributionsImpact[]
}
export interface PrRiskRecord {
 type: 'pr_risk'; repo: string; pr_number: number; pr_title: string; files_changed: number; created_at: string
 id?: string; impact_score?: number; regression_score?: number; security_score?: number
 coupling_score?: number; contributions?: PrRiskRecordContributions; project?: string; author_email?: string
 files?: CommitRecordFile[]; branch?: string; commits?: string[]; state?: 'open' | 'merged' | 'closed'
 merged_at?: string; closed_at?: string; merge_commit?: string; url?: string; default_branch?: string
 risk_score?: unknown; rating?: unknown
}
export interface AuditRecord {
 type: 'audit'; action: string; user_id: string; created_at: string; id?: string
 details?: Record<string, unknown>; ip_address?: string
}
export interface BudgetRecord {
 type: 'budget'; month: string; limit: number; project?: string; member?: string; team?: string
}
export interface ReportRecord {
 type: 'report'; report_type: ReportType
 /** First UTC day, inclusive */ from: string
 /** Last UTC day, inclusive */ to: string
 id?: string; generated_at?: string; through?: string
}
export interface NoteRecord {
 type: 'note'; id: string; day: string; text: string; project?: string; team?: string
}
export interface NewPlan {
 vendor: Vendor; plan: string; member?: string | null; from: string
 /** Last day, inclusive */ to?: string | null
 price_month: number; quantity?: number | null; currency?: string | null
 /** US dollars for one unit of the currency; required where it is not USD */ usd_rate?: number | null
 included_credits?: number | null
}
export interface PlanRecord extends NewPlan { type: 'plan'; id?: string }
export interface LimitWindow {
 limit: string; scope?: string | null; used_percent: number; resets_at?: string | null; hit: boolean
 overage?: boolean | null
}
export interface LimitRecord {
 type: 'limit'; vendor: Vendor; agent: string; account?: string; plan?: string; at: string
 windows: LimitWindow[]; user_email?: string
}
export interface EffectRecord {
 type: 'effect'; id: string; source: 'noticed' | 'recorded' | 'assigned'; name?: string; dismissed: boolean
 kind?: EffectRecordKind; unit: 'member' | 'repository'; from_day?: string; to_day?: string
 members?: string[]; projects?: string[]; team?: string
}
export interface SyncParams { machine?: string; reassign?: boolean; restore?: boolean; moved?: boolean }
export interface SkippedSession { id: string; reason: 'deleted' | 'retention' }
export interface MovedSessions { from: string; to: string; sessions: number }
export interface SyncResult {
 received: number; created: number; updated: number; unchanged: number; skipped?: SkippedSession[]
 moved?: MovedSessions[]
}
export interface WhoAmIOrganization {
 id: string; slug: string; name: string; plan: 'cloud_pro' | 'cloud_team' | 'cloud_enterprise'
 time_zone: string
}
/** Whose sessions the key sends */ export interface WhoAmIKeyMember { id: string | null; email: string }
/** null for a person who signed in */ export interface WhoAmIKey {
 id: string; name: string; scopes: Scope[]; expires_at: string | null; member: WhoAmIKeyMember | null
}
/** The person, or whose sessions the key sends */ export interface WhoAmIMember {
 id: string; email: string; display_name: string; role: Role
}
/** Of the organization, shared by its keys */ export interface WhoAmILimits {
 /** Requests a minute */ read: number
 /** Requests of POST /v1/sync a minute */ sync: number
}
export interface WhoAmI {
 organization: WhoAmIOrganization; key: WhoAmIKey | null; member: WhoAmIMember | null; scopes: Scope[]
 csrf_token?: string; limits: WhoAmILimits
}
/** Whose figures; {}: those of the organization */ export interface AlertScope {
 project?: string; member?: string; team?: string; model?: string; agent?: string
}
export interface Destination { type: 'webhook' | 'slack' | 'teams'; url?: string }
export interface AlertKey {
 key: string | null; state: 'ok' | 'firing' | 'no_data'; since: string; last_value: number | null
}
export interface Alert {
 id: string; name: string; metric: AlertMetric; scope: AlertScope; each: 'project' | 'member' | 'team' | null
 window: 'day' | 'week' | 'month'; above?: number; below?: number; times?: number; no_data: 'ok' | 'fire'
 renotify_minutes: number | null; enabled: boolean; destinations: Destination[]
 state: 'ok' | 'firing' | 'no_data'; since: string; last_value: number | null; keys?: AlertKey[]
}
/** One of them, or none for the organization */ export interface BudgetScope {
 project?: string; member?: string; team?: string
}
export interface MyBudgetsBudget {
 scope: BudgetScope
 /** US dollars */ limit: number
 /** US dollars of the month */ current_cost: number
 percent_used: number; status: 'ok' | 'warning' | 'exceeded'
}
export interface NamedBudget extends MyBudgetsBudget { name: string }
export interface AttentionWindow {
 vendor: Vendor; limit: string; scope: string | null; used_percent: number; resets_at: string | null
 hit: boolean
}
export interface WebhookHealth {
 consecutive_failures: number; last_success_at: string | null; last_failure_at: string | null
 last_status_code: number | null
}
export interface WebhookEndpoint {
 id: string; url: string; events: string[]; enabled: boolean; description: string | null; created_at: string
 updated_at: string; secret_hint: string; health: WebhookHealth
}
/** Whose session it is; null where that is not known, or not shown */ export interface SessionMember {
 id: string | null; email: string | null
}
export interface Finding {
 id: string; rule_id: string; category: string; severity: ListedFindingSeverity; title: string
 description: string | null; file: string | null; line: number | null; turn_number: number | null
 fingerprint: string; status: ListedFindingStatus; assignee: string | null; note?: string; created_at: string
}
export interface ListedFinding extends Finding {
 session_id: string; project: string | null; member: SessionMember | null
}
/** Open critical findings; none without the scope `security:read` */ export interface AttentionCritical {
 total: number; oldest: ListedFinding[]
}
export interface AttentionUnpriced { model: string | null; tokens: number }
export interface Machine {
 member: SessionMember | null; machine: string
 /** When it sent records, to the minute */ last_seen_at: string
 sessions: number
}
/** Where it failed, is missing, or is older than 2 × BACKUP_EVERY (two days without); with the scope `admin`, of a server that has one organization */ export interface AttentionBackup {
 last_at: string | null; failed_at: string | null
}
export interface Attention {
 alerts: Alert[]; budgets: NamedBudget[]; mine: NamedBudget[]; windows: AttentionWindow[]
 endpoints: WebhookEndpoint[]; critical: AttentionCritical; unpriced: AttentionUnpriced[]
 silent_machines: Machine[]; backup: AttentionBackup | null; days_moved_at: string | null
}
export interface SessionsListParams extends PageParams {
 project?: string
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
 member?: string; team?: string; model?: string; agent?: string; branch?: string; ticket?: string
 /** Only sessions that cost at least this, in US dollars */ min_cost?: number
 /** Only sessions that cost at most this, in US dollars */ max_cost?: number
 min_quality?: number; max_quality?: number; has_findings?: boolean; sort?: SessionSort
 order?: 'asc' | 'desc'; include?: 'details'
}
export interface Session {
 id: string; project_name: string | null; turns: number
 /** US dollars, at most 6 decimals; 0 where nothing is known */ estimated_cost: number
 quality_score: number; created_at: string; member?: SessionMember | null; agent?: string | null
 model?: string | null; branch?: string | null; ended_at?: string | null; findings?: number
}
export interface Pagination { page: number; per_page: number; total: number }
export type SessionPage = Page<Session>
export interface SessionTokens {
 input: number | null; output: number | null; cache_read: number | null; cache_creation: number | null
 cache_creation_1h?: number | null
}
export interface SessionDetailToolsUsed { name: string; calls: number; errors: number }
export interface Tokens {
 input: number; output: number; cache_read: number; cache_creation: number; cache_creation_1h?: number
}
export interface ToolCall { name: string; ok: boolean | null }
export interface Turn {
 turn_number: number; role: string; model: string | null; tier?: string; version?: string; effort?: string
 vendor?: Vendor; paid_by?: 'plan' | 'api' | 'unknown'; skill?: string; subagent?: string; mcp_server?: string
 plugin?: string; started_at: string | null; tokens: Tokens | null; cost: number | null
 tool_calls: ToolCall[]; content?: string
}
export interface Observation {
 id: string; type: string; title: string; content: string | null; importance: number; file_path: string | null
 turn_number: number | null; created_at: string
}
export interface SessionDetailAnalysis {
 summary: string | null; issues: string[]; classification: string | null
}
export interface QualityFactor {
 name: string; category: string; count: number; weight: number; points: number
}
export interface QualityMetadata {
 score: number; base: number; factors: QualityFactor[]; breakdown: Record<string, number>; scored_at: string
 previous_score: number | null
}
export interface SecurityMetadata { score: number; findings: Finding[] }
export interface SessionDetail {
 id: string; project_name: string | null; turns: number
 /** US dollars, at most 6 decimals; 0 where nothing is known */ estimated_cost: number
 quality_score: number; created_at: string; user_id: string | null; unpriced_tokens: number
 landed: boolean | null; reverted: boolean | null; survival: SessionRecordSurvival; source: string | null
 branch: string | null; pull_requests?: PullRequest[]; model: string | null; models: string[]
 started_at: string | null; ended_at: string | null; duration_seconds: number | null
 tokens: SessionTokens | null; origin: 'transcript' | 'telemetry' | 'both'
 cost_source: 'reported' | 'estimated'; stated_cost: number | null; version: string | null
 effort: string | null; vendor: Vendor | null; paid_by: 'plan' | 'api' | 'unknown' | null
 tools_used: SessionDetailToolsUsed[]; files_touched: string[] | null; summary: string | null
 turn_records: Turn[]; observations: Observation[]; analysis: SessionDetailAnalysis
 quality_metadata: QualityMetadata; security_metadata: SecurityMetadata
}
export interface PageParams { page?: number; per_page?: number }
export interface SessionName { name: string; sessions: number; last_session_at: string }
export type SessionNamePage = Page<SessionName>
export interface RangeParams {
 project?: string
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
 compare?: string
}
export interface QualityOverviewScoresByDate { date: string; score: number }
/** In the range of `compare` */ export interface QualityOverviewPrevious {
 average_score: number; total_sessions: number
}
export interface QualityOverview {
 average_score: number; total_sessions: number; trend: 'up' | 'down' | 'stable'
 scores_by_date: QualityOverviewScoresByDate[]; previous?: QualityOverviewPrevious
}
export interface TrendParams {
 granularity?: 'day' | 'week' | 'month'; include?: 'quartiles'; project?: string
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
}
export interface QualityTrendData {
 date: string; score: number; sessions: number; min_score: number; max_score: number; lower_quartile?: number
 upper_quartile?: number
}
export interface QualityTrend { granularity: 'day' | 'week' | 'month'; data: QualityTrendData[] }
export interface CostGetParams extends RangeParams { group_by?: 'day' | 'week' | 'month' }
export interface CostSummaryByPeriod {
 period: string
 /** of the period; US dollars */ cost: number
}
export interface CostSummaryByProject {
 project: string | null
 /** of the project, null: of none; US dollars */ cost: number
}
/** With `include=used`: what the month cost, and this month will; null for a limit that is not in force then, or whose cost the caller may not see */ export interface ScopedBudgetUsed {
 /** US dollars of the month */ current_cost: number
 percent_used: number; status: 'ok' | 'warning' | 'exceeded'; projected_cost: number
 projected_exceed_date: string | null
}
export interface Budget extends ScopedBudgetUsed {
 id: string; scope: 'organization' | 'project'; period: 'monthly'; period_start: string; period_end: string
 /** for the month; US dollars */ limit: number
 /** limit less what was spent, 0 when exceeded; US dollars */ remaining: number
 alert_threshold: number; currency: 'USD'
}
/** In the range of `compare` */ export interface CostSummaryPrevious {
 /** of all that was used in the range; US dollars */ total_cost: number
 unpriced_tokens: number
}
export interface CostSummary {
 /** of all that was used in the range; US dollars */ total_cost: number
 unpriced_tokens: number
 /** of the current month, date filters aside; US dollars */ current_month: number
 currency: 'USD'; by_period: CostSummaryByPeriod[]; by_project: CostSummaryByProject[]
 current_budget: Budget | null; previous?: CostSummaryPrevious
}
export interface CostBreakdownParams extends PageParams, RangeParams {
 by: BreakdownBy
 /** A second key, other than `by`: an item for each pair */ and_by?: BreakdownBy
 top?: number; top_by?: 'cost' | 'cost_and_change'; member?: string; team?: string; model?: string
 agent?: string; branch?: string; ticket?: string
 /** Only sessions that cost at least this, in US dollars */ min_cost?: number
 /** Only sessions that cost at most this, in US dollars */ max_cost?: number
 min_quality?: number; max_quality?: number; has_findings?: boolean; version?: string; effort?: string
 skill?: string; subagent?: string; mcp_server?: string; plugin?: string; tier?: CostBreakdownTier
 vendor?: CostBreakdownVendor; paid_by?: CostBreakdownPaidBy; sort?: BreakdownSort; order?: 'asc' | 'desc'
}
export interface BreakdownItemTokens {
 input: number; output: number; cache_read: number; cache_creation: number
}
/** The cost by kind, which add up to it exactly; `other`: searches, and stated costs without tokens */ export interface BreakdownItemCostByKind {
 input: number; output: number; cache_read: number; cache_write_5m: number; cache_write_1h: number
 other: number
}
/** In the range of `compare` */ export interface PreviousRange { cost: number; sessions: number }
/** It counts the items of all pages */ export interface BreakdownTotal {
 sessions: number; turns: number; tokens: BreakdownItemTokens
 /** US dollars, exact to 6 decimals */ cost: number
 cost_by_kind: BreakdownItemCostByKind; share: number; unpriced_tokens: number; previous?: PreviousRange
}
export interface BreakdownItem extends BreakdownTotal {
 key: string | null
 /** The second key; `(others)` for those beyond `top` */ and_key?: string | null
}
export interface Breakdown extends Page<BreakdownItem> { total: BreakdownTotal }
export interface CostExplainParams extends PageParams {
 by?: CostExplainBy; against?: string; project?: string
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
 member?: string; team?: string; model?: string; agent?: string; branch?: string; ticket?: string
 /** Only sessions that cost at least this, in US dollars */ min_cost?: number
 /** Only sessions that cost at most this, in US dollars */ max_cost?: number
 min_quality?: number; max_quality?: number; has_findings?: boolean; version?: string; effort?: string
 skill?: string; subagent?: string; mcp_server?: string; plugin?: string; tier?: CostBreakdownTier
 vendor?: CostBreakdownVendor; paid_by?: CostBreakdownPaidBy
}
export interface ExplanationAgainst { from: string; to: string }
export interface ChangePart {
 cause: ChangePartCause
 /** US dollars, exact to 6 decimals */ amount: number
 before: number | null; after: number | null
}
/** They add up to the change of the key, and each of all keys to the part of the total */ export interface ExplainedKeyParts {
 /** US dollars, exact to 6 decimals */ prompts: number
 /** US dollars, exact to 6 decimals */ calls_per_prompt: number
 /** US dollars, exact to 6 decimals */ model_mix: number
 /** US dollars, exact to 6 decimals */ input_per_call: number
 /** US dollars, exact to 6 decimals */ output_per_call: number
 /** US dollars, exact to 6 decimals */ cache_read_per_call: number
 /** US dollars, exact to 6 decimals */ cache_write_per_call: number
 /** US dollars, exact to 6 decimals */ price: number
 /** US dollars, exact to 6 decimals */ undivided: number
}
export interface ExplainedKey {
 key: string | null
 /** US dollars, exact to 6 decimals */ before: number
 /** US dollars, exact to 6 decimals */ after: number
 /** US dollars, exact to 6 decimals */ change: number
 parts: ExplainedKeyParts
}
export interface RangeFact { day: string; kind: RangeFactKind; text: string; link?: string }
export interface Explanation extends Page<ExplainedKey> {
 from: string; to: string; against: ExplanationAgainst
 /** US dollars, exact to 6 decimals */ before: number
 /** US dollars, exact to 6 decimals */ after: number
 /** US dollars, exact to 6 decimals */ change: number
 parts: ChangePart[]; facts: RangeFact[]
}
export interface CostFirstDaysParams { by?: CostFirstDaysBy }
export interface FirstDaysData { key: string; first_day: string }
export interface FirstDays { data: FirstDaysData[] }
export interface CostPriceGuessParams { name: string }
export interface PriceGuess { nearest: string | null; line: string | null }
export interface CostTrendParams {
 granularity?: 'day' | 'week' | 'month'; project?: string
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
}
export interface CostTrendData {
 period: string
 /** of the bucket; US dollars */ cost: number
 sessions: number
 /** up to and with the bucket; US dollars */ cumulative_cost: number
 budget: number | null
}
export interface CostTrend { granularity: CostGranularity; data: CostTrendData[] }
export interface EffectsListParams extends PageParams {
 verdict?: EffectsListVerdict; kind?: EffectsListKind
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
 dismissed?: boolean
}
export interface EffectChange {
 trait: EffectsListKind; value: string; source: 'noticed' | 'recorded' | 'assigned'; first_week: string
 unit: 'member' | 'repository'
}
export interface EffectWeeks { before: number; after: number }
export interface EffectClusters { by: 'member' | 'team' | 'repository'; changed: number; others: number }
/** They add up to `extra` */ export interface EffectMoneyParts {
 price: number; calls_per_prompt: number; model_mix: number; input_per_call: number; output_per_call: number
 cache_read_per_call: number; cache_write_5m_per_call: number; cache_write_1h_per_call: number
 other_per_call: number
}
export interface EffectMoney {
 compared: number
 /** US dollars: what the change made of it */ extra: number
 low: number | null; high: number | null; parts: EffectMoneyParts
}
/** The same before the change, where there must be nothing */ export interface EffectPlacebo {
 effect: number; low: number; high: number
}
export interface Effect {
 id: string; name: string; change: EffectChange; evidence: 'compared' | 'own_past' | 'assigned'
 verdict: EffectsListVerdict; measure: EffectMeasure; weeks: EffectWeeks | null; changed: number
 others: number; clusters: EffectClusters | null; effect: number | null; low: number | null
 high: number | null; visible_rise: number | null; visible_fall: number | null; p: number | null
 money: EffectMoney | null; compared_share: number | null; placebo: EffectPlacebo | null; dismissed: boolean
 also_changed: string[]; look_at: string | null; notes: 'not_assigned'[]
}
export type EffectPage = Page<Effect>
export interface EffectsGetParams {
 /** Weeks after the change; 8 are a second look, with ranges of 97.5 % */ weeks?: '4' | '8'
 measure?: EffectMeasure
}
export interface NewEffect {
 name: string; kind?: NewEffectKind; week?: string; day?: string; unit?: 'member' | 'repository'
 members?: string[]; projects?: string[]; team?: string; assigned?: 'days'; from?: string; to?: string
}
export interface EffectUpdate { name?: string; dismissed?: boolean }
export interface EffectsArmParams { day?: string }
export interface Arm { arm: number }
export interface NotesListParams extends PageParams {
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
 project?: string; team?: string
}
export interface Note { id: string; day: string; text: string; project?: string; team?: string }
export type NotePage = Page<Note>
export interface NewNote { day: string; text: string; project?: string | null; team?: string | null }
export interface SecurityOverviewSummary {
 avg_score: number; min_score: number; max_score: number; total_sessions: number
}
/** With `compare`: findings of the sessions, of any status */ export interface SecurityOverviewFound {
 critical: number; total: number
}
/** In the range of `compare` */ export interface SecurityOverviewPrevious {
 avg_score: number; min_score: number; max_score: number; total_sessions: number; found: SecurityOverviewFound
}
export interface SecurityOverviewRecentSession {
 id: string; project: string | null; created_at: string; security_metadata: SecurityMetadata
}
export interface SecurityOverview {
 summary: SecurityOverviewSummary; found?: SecurityOverviewFound; previous?: SecurityOverviewPrevious
 recent_sessions: SecurityOverviewRecentSession[]
}
export interface SecurityHeatmapParams extends PageParams {
 project?: string; min_score?: number
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
}
export interface HeatmapFileFindings {
 critical: number; high: number; medium: number; low: number; total: number
}
export interface HeatmapFile {
 file: string; project: string | null; risk_score: number; findings: HeatmapFileFindings; sessions: number
 first_seen_at: string; last_seen_at: string
}
export interface HeatmapSummary {
 files: number; average_risk: number; files_above_threshold: number; threshold: number
}
export interface Heatmap extends Page<HeatmapFile> { summary: HeatmapSummary }
export interface FindingsListParams extends PageParams {
 severity?: ListedFindingSeverity; rule_id?: string; category?: string; project?: string; file?: string
 member?: string; status?: ListedFindingStatus; assignee?: string
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
 sort?: 'created_at' | 'severity'; include?: 'counts'
}
export interface FindingCountsSeverity { critical: number; high: number; medium: number; low: number }
export interface FindingCountsCategoryProject { key: string | null; findings: number }
export interface FindingCountsCategoryMember { key: SessionMember | null; findings: number }
export interface FindingCountsCategory {
 key: string; findings: number; project: FindingCountsCategoryProject[]; member: FindingCountsCategoryMember[]
}
/** With `include=counts`, of all pages */ export interface FindingCounts {
 severity: FindingCountsSeverity; category: FindingCountsCategory[]; project: FindingCountsCategoryProject[]
 member: FindingCountsCategoryMember[]
}
export interface ListedFindingPage extends Page<ListedFinding> { counts?: FindingCounts }
export interface FindingChange { status?: ListedFindingStatus; note?: string; assignee?: string | null }
export interface AuditListParams extends PageParams {
 action?: string; user_id?: string
 /** First UTC day, inclusive */ date_from?: string
 /** Last UTC day, inclusive */ date_to?: string
}
export interface AuditEntry {
 id: string; action: string; user_id: string; details: Record<string, unknown>; ip_address: string
 /** UTC, microseconds; no two entries of an organization have the same */ created_at: string
}
export type AuditEntryPage = Page<AuditEntry>
export interface AuditReportParams { cursor?: string; direction?: 'before' | 'after' }
export interface AuditReportSummaryByAction { action: string; count: number }
export interface AuditReportSummaryByUser { user_id: string; count: number }
export interface AuditReportSummaryByDay { date: string; count: number }
export interface AuditReportSummary {
 total: number; by_action: AuditReportSummaryByAction[]; by_user: AuditReportSummaryByUser[]
 by_day: AuditReportSummaryByDay[]
}
export interface AuditReport {
 source: 'pregenerated' | 'fallback'; report_id: string | null; generated_at: string
 /** UTC days, inclusive; of the fallback: the whole log */ period: ExplanationAgainst
 summary: AuditReportSummary; data: AuditEntry[]; truncated: boolean; next_cursor: string | null
}
export interface TeamOverviewMember {
 id: string; email: string; display_name: string; role: Role; joined_at: string; team: string | null
}
export interface TeamOverviewActivitySummary { sessions_last_7d: number; active_members_last_7d: number }
export interface TeamOverview { members: TeamOverviewMember[]; activity_summary: TeamOverviewActivitySummary }
export interface TeamExpertiseParams { path?: string }
export interface ExpertiseDataDomain {
 domain: string; score: number; commits: number; sessions: number; files_owned: number
 ownership_percent: number; is_primary_owner: boolean; last_active_at: string
}
export interface ExpertiseData {
 user_id: string | null; display_name: string; score?: number; domains: ExpertiseDataDomain[]
}
export interface ExpertiseDomain {
 domain: string; files: number; bus_factor: number; primary_owner_id: string | null
}
export interface Expertise { data: ExpertiseData[]; domains: ExpertiseDomain[]; files?: string[] }
export type MachinePage = Page<Machine>
export interface Coverage {
 member: SessionMember | null; agent: string | null; sessions: number; transcript_tokens: number
 telemetry_tokens: number; captured_share: number | null; last_seen_at: string
}
export type CoveragePage = Page<Coverage>
export interface RiskListParams extends PageParams {
 repo?: string; rating?: Rating; state?: 'open' | 'merged' | 'closed'; include?: 'cost'
}
export interface RiskScore {
 id: string; repo: string; pr_number: number; pr_title: string; risk_score: number; impact_score: number
 regression_score: number; security_score: number; coupling_score: number; files_changed: number
 created_at: string; rating: Rating; contributions: PrRiskRecordContributions
 /** Its parts of the cost of its sessions, US dollars; with `include` */ cost?: number
 sessions?: number; state?: 'open' | 'merged' | 'closed'
}
export type RiskScorePage = Page<RiskScore>
export interface FixRate {
 rating: Rating; pull_requests: number; followed_by_fix: number; share: number | null
}
export interface RiskSession {
 id: string; project_name: string | null; turns: number
 /** US dollars */ estimated_cost: number
 part: number; quality_score: number; created_at: string
}
export interface RiskSessions {
 count: number
 /** The sum of their parts; US dollars */ cost: number
 average_quality: number; findings: number; data: RiskSession[]
}
export interface RiskDetail {
 id: string; repo: string; pr_number: number; pr_title: string; risk_score: number; impact_score: number
 regression_score: number; security_score: number; coupling_score: number; files_changed: number
 created_at: string; rating: Rating; contributions: PrRiskRecordContributions
 state: 'open' | 'merged' | 'closed'; merged_at: string | null; closed_at: string | null; url: string | null
 effective_lines: number; ai_lines: number
 /** ai_lines ÷ effective_lines */ ai_share: number | null
 fix_rate: FixRate; sessions: RiskSessions
}
export interface OutcomesListParams extends PageParams, RangeParams {
 by?: OutcomesBy; repo?: string; member?: string; team?: string
}
/** In the period in which they were merged or closed, else opened */ export interface OutcomePullRequests {
 open: number; merged: number; closed: number
}
export interface SurvivingLines {
 lines: number; of: number
 /** `lines` ÷ `of`; rounded to 6 decimals */ share: number | null
}
export interface OutcomeSurvival { '14': SurvivingLines; '30': SurvivingLines }
/** In the range of `compare` */ export interface OutcomesTotalPrevious {
 pull_requests: OutcomePullRequests
 /** merged ÷ (merged + closed); rounded to 6 decimals */ merge_rate: number | null
 /** Of the sessions of the group; US dollars */ cost: number
 linked_cost: number; linked_share: number | null
 /** `linked_cost` ÷ merged; US dollars */ cost_per_merged_pull_request: number | null
 commits: number | null; effective_lines: number | null; ai_lines: number
 /** `ai_lines` ÷ `effective_lines`; rounded to 6 decimals */ ai_share: number | null
 survival: OutcomeSurvival | null
}
export interface Outcome extends OutcomesTotalPrevious { key: string | null }
/** It counts the items of all pages */ export interface OutcomesTotal extends OutcomesTotalPrevious {
 previous?: OutcomesTotalPrevious
}
export interface Outcomes extends Page<Outcome> { total: OutcomesTotal }
export interface WebhookEndpointList { data: WebhookEndpoint[] }
export interface NewWebhookEndpoint {
 url: string; events: SubscribedEvent[] | '*'; enabled?: boolean; description?: string | null
}
export interface CreatedWebhookEndpoint extends WebhookEndpoint {
 /** Signs every delivery; shown here only, keep it */ secret: string
}
export interface WebhookEndpointChange {
 url?: string; events?: SubscribedEvent[] | '*'; enabled?: boolean; description?: string | null
}
export interface SecretRotation { grace_period_seconds?: number; finish?: boolean }
export interface RotatedSecret {
 id: string
 /** Signs every delivery; shown here only, keep it */ secret?: string
 previous_secret_expires_at: string | null
}
export interface WebhookTest { event?: EventName }
export interface WebhookTestResult {
 delivery_id: string; event: string; success: boolean; status_code: number | null; duration_ms: number
 error: string | null; response_body: string | null
}
export interface Recovery { since: string; until?: string | null; dry_run?: boolean | null }
export interface RecoveryResult { count: number }
/** A body */ export interface EventCatalogueDataExample {
 id: string; event: string; test?: boolean; type: string
 /** When it happened: UTC, milliseconds */ timestamp: string
 api_version: 'v1'; data: Record<string, unknown>
}
export interface EventCatalogueData {
 name: string; meaning: string; schema: Record<string, unknown>; example: EventCatalogueDataExample
}
export interface EventCatalogue { data: EventCatalogueData[] }
export interface WebhooksDeliveriesListParams extends PageParams {
 status?: DeliveryStatus; event?: SentEvent
 /** First UTC day, inclusive */ date_from?: string
 /** Last UTC day, inclusive */ date_to?: string
}
export interface Delivery {
 id: string; event: string; event_id: string; status: DeliveryStatus; attempts: number
 next_attempt_at: string | null; last_status_code: number | null; created_at: string
 completed_at: string | null
}
export type DeliveryPage = Page<Delivery>
export interface Attempt {
 number: number; started_at: string; duration_ms: number | null; status_code: number | null
 error: string | null; response_body: string | null
}
export interface DeliveryDetailRequest { headers: Record<string, string>; body: string }
export interface DeliveryDetail extends Omit<Delivery, 'attempts'> {
 attempts: Attempt[]; request: DeliveryDetailRequest
}
export interface BadgeParams {
 style?: BadgeStyle; label?: string; days?: number; project?: string; token?: string
}
export interface ShieldsBadge {
 schemaVersion: number; label: string; message: string; color: string; style?: BadgeStyle
 cacheSeconds: number
}
/** Every part works */ export interface Health {
 status: string; version: string; instance: string; database: string; worker: string
}
/** Requests may be sent */ export interface Readiness {
 status: string; database: string; disk: string; worker: string; schema: string
}
export interface Liveness { status: string }
/** The newest complete one that the server made */ export interface ServerLastBackup {
 at: string; bytes: number
}
/** It holds the data directory; null where the database is another server’s */ export interface ServerDisk {
 free_bytes: number; total_bytes: number
}
export interface Server {
 version: string; database_bytes: number; backup_every_seconds: number | null
 last_backup: ServerLastBackup | null; backup_failed_at: string | null; disk: ServerDisk | null
}
export interface ApiKey extends WhoAmIKey {
 created_at: string; created_by: string | null; last_used_at: string | null; revoked_at: string | null
}
export type ApiKeyPage = Page<ApiKey>
export interface NewApiKey {
 name: string; scopes: Scope[]; expires_at?: string | null; member?: string | null
}
export interface CreatedApiKey extends ApiKey {
 /** The key itself: shown once */ key: string
}
export interface ApiKeyRotation { grace_period_seconds?: number }
export interface MembersListParams extends PageParams { q?: string; role?: Role }
export interface Member extends TeamOverviewMember {
 aliases: string[]; last_signed_in_at: string | null; status: 'active' | 'invited'
}
export type MemberPage = Page<Member>
export interface NewMember { email: string; display_name: string; role: Role; team?: string | null }
export interface MemberChange { display_name?: string; role?: Role; team?: string | null; aliases?: string[] }
export interface Invitation { url: string; expires_at: string }
export interface InvitedMember { email: string; display_name?: string; role: Role; team?: string | null }
export interface NewInvitations { members: InvitedMember[] }
export interface InvitationsData { id: string; email: string; url: string; expires_at: string }
export interface Invitations { data: InvitationsData[] }
/** A shorter retention that waits: it holds from `at` on, and would delete so many sessions */ export interface PendingRetention {
 days: number; sessions: number; at: string
}
/** A time zone that will be in force when all days are computed anew */ export interface OrganizationSettingsTimeZonePending {
 time_zone: string
 /** When it was asked for: UTC, milliseconds */ at: string
}
export interface BadgeSettingsLabels { quality: string; security: string; cost: string }
export interface BadgeSettingsColors { good: string; medium: string; bad: string }
export interface BadgeSettingsThresholds { good: number; medium: number }
export interface BadgeSettings {
 visibility: 'public' | 'private'; token: boolean | null; labels: BadgeSettingsLabels
 colors: BadgeSettingsColors; thresholds: BadgeSettingsThresholds
}
export interface OrganizationSettings extends WhoAmIOrganization {
 hide_members: boolean; member_visibility: 'all' | 'own'; retention_sessions_days: number | null
 retention_pending: PendingRetention | null; time_zone_pending: OrganizationSettingsTimeZonePending | null
 badges: BadgeSettings; ticket_pattern: string; ticket_ignore: string[]; budget_action: 'warn' | 'block'
 github_secret_set: boolean
}
export interface BadgesChangeLabels {
 quality?: string | null; security?: string | null; cost?: string | null
}
export interface BadgesChangeColors { good?: string; medium?: string; bad?: string }
export interface BadgesChangeThresholds { good?: number; medium?: number }
export interface BadgesChange {
 visibility?: 'public' | 'private'; token?: unknown | null; labels?: BadgesChangeLabels
 colors?: BadgesChangeColors | null; thresholds?: BadgesChangeThresholds | null
}
export interface OrganizationChange {
 name?: string; hide_members?: boolean; member_visibility?: 'all' | 'own'
 retention_sessions_days?: number | null; confirm_retention?: boolean; time_zone?: string
 badges?: BadgesChange; ticket_pattern?: string | null; ticket_ignore?: string[] | null
 budget_action?: 'warn' | 'block'; github_secret?: string | null
}
export interface BadgeToken {
 /** Shown once; it replaces the token before */ token: string
}
export interface BudgetsListParams extends PageParams {
 project?: string; member?: string; team?: string; include?: 'used'; month?: string
}
export interface ScopedBudget {
 month: string
 /** US dollars */ limit: number
 scope: BudgetScope; used?: ScopedBudgetUsed | null
}
export type ScopedBudgetPage = Page<ScopedBudget>
export interface BudgetsMineParams { project?: string }
export interface MyBudgets { action: 'warn' | 'block'; budgets: MyBudgetsBudget[] }
export interface BudgetLimit { limit: number }
export interface BudgetsSetParams { limit: number; project?: string; member?: string; team?: string }
export interface MonthBudget {
 month: string
 /** US dollars */ limit: number
}
export interface BudgetsDeleteParams { project?: string; member?: string; team?: string }
export interface PlansListParams extends PageParams { vendor?: Vendor; plan?: string; member?: string }
export interface Plan {
 id: string; vendor: Vendor; plan: string; member: string | null; quantity: number; from: string
 /** Last day, inclusive; null: until further notice */ to: string | null
 price_month: number; currency: string
 /** US dollars for one unit of the currency; required where it is not USD */ usd_rate: number | null
 included_credits: number | null
}
export type PlanPage = Page<Plan>
export interface PlansCreateParams extends NewPlan { replace?: boolean }
export interface PlanChange {
 vendor?: Vendor; plan?: string; member?: string | null; from?: string
 /** Last day, inclusive */ to?: string | null
 price_month?: number; quantity?: number | null; currency?: string | null
 /** US dollars for one unit of the currency; required where it is not USD */ usd_rate?: number | null
 included_credits?: number | null
}
export interface SeatsListParams extends PageParams {
 /** First day of the time zone, inclusive */ date_from?: string
 /** Last day of the time zone, inclusive */ date_to?: string
 vendor?: Vendor; plan?: string; member?: string; team?: string; verdict?: SeatVerdict
}
export interface SeatLimit {
 limit: string; scope: string | null; peak_percent: number; windows: number; hits: number
 hours_blocked: number; overage: boolean; current: number | null
}
/** The credits of all seats of the vendor’s plan */ export interface SeatPool {
 credits: number; used: number | null; percent: number | null
}
export interface Seat {
 member: string | null; vendor: Vendor; plan: string | null; quantity: number; from: string | null
 /** Last day, inclusive; null: until further notice */ to: string | null
 /** US dollars for the days in force of the range */ paid: number
 cost: number
 /** cost ÷ paid */ ratio: number | null
 sessions: number; active_days: number; last_active_day: string | null; limits: SeatLimit[]
 pool: SeatPool | null; verdict: SeatVerdict | null
}
/** It counts the seats of all pages */ export interface SeatTotal {
 seats: number; paid: number; cost: number; idle: number; low: number; limited: number
}
export interface SeatPage extends Page<Seat> { currency: 'USD'; total: SeatTotal }
export interface MySeatsPlan {
 vendor: Vendor; plan: string; from: string
 /** Last day, inclusive; null: until further notice */ to: string | null
}
export interface MySeats { plans: MySeatsPlan[]; windows: AttentionWindow[] }
export type AlertPage = Page<Alert>
export interface NewDestination { type: 'webhook' | 'slack' | 'teams'; url?: string }
export interface NewAlert {
 name: string; metric: AlertMetric; window: 'day' | 'week' | 'month'; above?: number; below?: number
 times?: number; destinations: NewDestination[]; each?: 'project' | 'member' | 'team' | null
 no_data?: 'ok' | 'fire'; renotify_minutes?: number | null; enabled?: boolean; scope?: AlertScope
}
export interface AlertChange {
 name?: string; metric?: AlertMetric; window?: 'day' | 'week' | 'month'; above?: number; below?: number
 times?: number; destinations?: NewDestination[]; each?: 'project' | 'member' | 'team' | null
 no_data?: 'ok' | 'fire'; renotify_minutes?: number | null; enabled?: boolean; scope?: AlertScope
}
export interface NotificationTestResult {
 type: 'webhook' | 'slack' | 'teams'; success: boolean; status_code: number | null; error: string | null
}
export interface NotificationTest { results: NotificationTestResult[] }
export interface NotificationDelivery extends Delivery { test: boolean }
export type NotificationDeliveryPage = Page<NotificationDelivery>
export interface NotificationDeliveryDetailRequest { body: string }
export interface NotificationDeliveryDetail extends Omit<Delivery, 'attempts'> {
 attempts: Attempt[]; request: NotificationDeliveryDetailRequest; test: boolean
}
export interface Digest {
 id: string; name: string; weekday: DigestWeekday; hour: number; destinations: Destination[]; enabled: boolean
 last_sent_at: string | null
}
export type DigestPage = Page<Digest>
export interface NewDigest {
 name: string; weekday?: DigestWeekday; hour?: number; destinations?: NewDestination[]; enabled?: boolean
}
export interface DigestChange {
 name?: string; weekday?: DigestWeekday; hour?: number; destinations?: NewDestination[]; enabled?: boolean
}
export interface SessionCompletedEventData {
 session_id: string; project_name: string | null; quality_score: number
}
export interface QualityScoreChangedEventData { session_id: string; old_score: number; new_score: number }
export interface SecurityAlertEventData { alert_id: string; severity: 'critical' | 'high'; title: string }
export interface CostBudgetExceededEventData {
 budget_id: string
 /** The month's cost in US dollars, at most 6 decimals */ current_cost: number
 /** The monthly limit in US dollars, at most 6 decimals */ limit: number
}
export interface TeamMemberJoinedEventData { user_id: string; email: string; role: Role }
export interface ComplianceReportReadyEventData {
 report_id: string; report_type: ReportType
 /** UTC days, both inclusive */ date_range: ExplanationAgainst
}
export interface AlertFiredEventDataTop { key: string | null; value: number }
export interface AlertFiredEventData {
 alert_id: string; name: string; state: 'ok' | 'firing' | 'no_data'; metric: string; value: number | null
 threshold: number; window: 'day' | 'week' | 'month'; key: string | null; top: AlertFiredEventDataTop[]
 test?: boolean
}
export interface AlertResolvedEventData extends AlertFiredEventData {  }
export interface DigestReadyEventDataByModel {
 key: string | null
 /** In US dollars */ cost: number
}
export interface DigestReadyEventDataBudget { limit: number; projected_cost: number }
export interface DigestReadyEventDataPullRequests { merged: number; cost: number }
export interface DigestReadyEventDataEffect { id: string; name: string; verdict: string; effect: number }
export interface DigestReadyEventData {
 digest_id: string; from: string
 /** Days of the organization’s time zone, both inclusive */ to: string
 cost: number; previous_cost: number; by_model: DigestReadyEventDataByModel[]
 by_project: DigestReadyEventDataByModel[]; budget: DigestReadyEventDataBudget | null
 pull_requests: DigestReadyEventDataPullRequests; average_quality: number | null; new_findings: number
 effects: DigestReadyEventDataEffect[]; test?: boolean
}
export interface WebhookTestEventData { webhook_id: string; test: boolean; message: string }

/** What a webhook delivery says: `event` tells which. */
export type WebhookEvent =
  | WebhookEventOf<'session.completed', SessionCompletedEventData>
  | WebhookEventOf<'quality.score_changed', QualityScoreChangedEventData>
  | WebhookEventOf<'security.alert', SecurityAlertEventData>
  | WebhookEventOf<'cost.budget_exceeded', CostBudgetExceededEventData>
  | WebhookEventOf<'team.member_joined', TeamMemberJoinedEventData>
  | WebhookEventOf<'compliance.report_ready', ComplianceReportReadyEventData>
  | WebhookEventOf<'alert.fired', AlertFiredEventData>
  | WebhookEventOf<'alert.resolved', AlertResolvedEventData>
  | WebhookEventOf<'digest.ready', DigestReadyEventData>
  | WebhookEventOf<'webhook.test', WebhookTestEventData>
/** `timestamp`: when it happened, UTC, milliseconds. `id` is the same at every attempt. */
export interface WebhookEventOf<Name extends string, Data> {
  id: string; event: Name; type: Name; timestamp: string; api_version: 'v1'; data: Data
}
/** What `sync` takes. */
export type SyncRecord = SessionRecord | MemberRecord | CommitRecord | PrRiskRecord | AuditRecord | BudgetRecord | ReportRecord | NoteRecord | PlanRecord | LimitRecord | EffectRecord

export interface Resources {
 /** Send sessions, commits, pull requests, members, budgets, audit entries and reports. */ sync(records: SyncRecord[], params?: SyncParams): Promise<SyncResult>
 /** The key or person of the request, the organization and its limits */ whoami(): Promise<WhoAmI>
 /** List what needs attention: alerts that fire, exceeded budgets, endpoints that fail. */ attention(): Promise<Attention>
 sessions: {
  list(params?: SessionsListParams): List<SessionPage>
  get(session_id: string): Promise<SessionDetail>
  delete(session_id: string): Promise<void>
 }
 projects: {
  list(params?: PageParams): List<SessionNamePage>
 }
 models: {
  list(params?: PageParams): List<SessionNamePage>
 }
 agents: {
  /** List the coding agents of sessions by name. */ list(params?: PageParams): List<SessionNamePage>
 }
 quality: {
  get(params?: RangeParams): Promise<QualityOverview>
  trend(params?: TrendParams): Promise<QualityTrend>
 }
 cost: {
  get(params?: CostGetParams): Promise<CostSummary>
  /** Cost and tokens by project, member, team, model, agent, branch or time. */ breakdown(params: CostBreakdownParams): List<Breakdown>
  /** Why cost changed: prompts, calls, models, tokens, prices. */ explain(params?: CostExplainParams): List<Explanation>
  /** List keys in the order of their first appearance, by which charts colour them. */ firstDays(params?: CostFirstDaysParams): Promise<FirstDays>
  /** Guess the price of a model without a known one. */ priceGuess(params: CostPriceGuessParams): Promise<PriceGuess>
  trend(params?: CostTrendParams): Promise<CostTrend>
 }
 effects: {
  /** List the changes of how the organization works, and what each made of its cost. */ list(params?: EffectsListParams): List<EffectPage>
  get(effect_id: string, params?: EffectsGetParams): Promise<Effect>
  /** Record a change, or have days assigned by a draw. */ create(params: NewEffect): Promise<Effect>
  update(effect_id: string, params: EffectUpdate): Promise<Effect>
  /** Remove a recorded or assigned change; a noticed one is dismissed instead. */ delete(effect_id: string): Promise<void>
  /** The arm of the caller on a day: whether the change is on. */ arm(effect_id: string, params?: EffectsArmParams): Promise<Arm>
 }
 notes: {
  /** List the notes of days, the newest days first. */ list(params?: NotesListParams): List<NotePage>
  create(params: NewNote): Promise<Note>
  delete(note_id: string): Promise<void>
 }
 security: {
  get(params?: RangeParams): Promise<SecurityOverview>
  heatmap(params?: SecurityHeatmapParams): List<Heatmap>
 }
 findings: {
  /** List findings, those of the newest sessions or the most severe first. */ list(params?: FindingsListParams): List<ListedFindingPage>
  /** Decide about a finding: fixed, accepted, dismissed, or open again; assign it. */ update(finding_id: string, params: FindingChange): Promise<ListedFinding>
 }
 audit: {
  list(params?: AuditListParams): List<AuditEntryPage>
  /** The audit log as a report, page by page. */ report(params?: AuditReportParams): Promise<AuditReport>
 }
 team: {
  get(): Promise<TeamOverview>
  /** Who knows which part of the code, or a file. */ expertise(params?: TeamExpertiseParams): Promise<Expertise>
  /** List the machines that send records, the one seen last first. */ machines(params?: PageParams): List<MachinePage>
  /** How much of the sessions transcripts and telemetry tell, by member and agent. */ coverage(params?: PageParams): List<CoveragePage>
 }
 risk: {
  /** List risk scores of pull requests, newest first. */ list(params?: RiskListParams): List<RiskScorePage>
  /** One risk score, with the sessions that worked on the pull request. */ get(pr_id: string): Promise<RiskDetail>
 }
 outcomes: {
  /** What came of it: pull requests, their cost, agents’ lines and what is left of them. */ list(params?: OutcomesListParams): List<Outcomes>
 }
 webhooks: {
  list(): List<WebhookEndpointList>
  create(params: NewWebhookEndpoint): Promise<CreatedWebhookEndpoint>
  get(webhook_id: string): Promise<WebhookEndpoint>
  update(webhook_id: string, params: WebhookEndpointChange): Promise<WebhookEndpoint>
  delete(webhook_id: string): Promise<void>
  rotateSecret(webhook_id: string, params?: SecretRotation): Promise<RotatedSecret>
  test(webhook_id: string, params?: WebhookTest): Promise<WebhookTestResult>
  /** Send all failed deliveries of a time again. */ recover(webhook_id: string, params: Recovery): Promise<RecoveryResult>
  /** Send all deliveries that wait for a retry now. */ retry(webhook_id: string): Promise<RecoveryResult>
  events(): Promise<EventCatalogue>
  deliveries: {
   /** List deliveries of an endpoint, newest first. */ list(webhook_id: string, params?: WebhooksDeliveriesListParams): List<DeliveryPage>
   /** One delivery with its request and attempts. */ get(webhook_id: string, delivery_id: string): Promise<DeliveryDetail>
   redeliver(webhook_id: string, delivery_id: string): Promise<Delivery>
  }
 }
 badges: {
  quality(org_slug: string, params?: BadgeParams): Promise<string>
  security(org_slug: string, params?: BadgeParams): Promise<string>
  cost(org_slug: string, params?: BadgeParams): Promise<string>
  qualityJson(org_slug: string, params?: BadgeParams): Promise<ShieldsBadge>
  securityJson(org_slug: string, params?: BadgeParams): Promise<ShieldsBadge>
  costJson(org_slug: string, params?: BadgeParams): Promise<ShieldsBadge>
 }
 service: {
  health(): Promise<Health>
  /** Whether requests should be sent to this instance */ ready(): Promise<Readiness>
  live(): Promise<Liveness>
  /** Version, last backup and disk of a server that has one organization. */ server(): Promise<Server>
 }
 keys: {
  list(params?: PageParams): List<ApiKeyPage>
  create(params: NewApiKey): Promise<CreatedApiKey>
  get(key_id: string): Promise<ApiKey>
  rotate(key_id: string, params?: ApiKeyRotation): Promise<CreatedApiKey>
  revoke(key_id: string): Promise<void>
 }
 members: {
  /** List the members, the first to join first. */ list(params?: MembersListParams): List<MemberPage>
  create(params: NewMember): Promise<Member>
  update(user_id: string, params: MemberChange): Promise<Member>
  delete(user_id: string): Promise<void>
  /** Make a link by which a member sets a password. */ invite(user_id: string): Promise<Invitation>
  inviteMany(params: NewInvitations): Promise<Invitations>
 }
 organization: {
  get(): Promise<OrganizationSettings>
  update(params: OrganizationChange): Promise<OrganizationSettings>
  newBadgeToken(): Promise<BadgeToken>
 }
 budgets: {
  list(params?: BudgetsListParams): List<ScopedBudgetPage>
  /** This month’s budgets of who works on a project. */ mine(params?: BudgetsMineParams): Promise<MyBudgets>
  set(month: string, params: BudgetsSetParams): Promise<MonthBudget>
  delete(month: string, params?: BudgetsDeleteParams): Promise<void>
 }
 plans: {
  /** List the plans, those that began last first. */ list(params?: PlansListParams): List<PlanPage>
  create(params: PlansCreateParams): Promise<Plan>
  /** Change the fields of the plan that are given. */ update(plan_id: string, params: PlanChange): Promise<Plan>
  /** Remove a plan as if it had never been paid. */ delete(plan_id: string): Promise<void>
 }
 seats: {
  /** List seats: what they cost, and what the same work would have cost by the price list. */ list(params?: SeatsListParams): List<SeatPage>
  mine(): Promise<MySeats>
 }
 alerts: {
  list(params?: PageParams): List<AlertPage>
  create(params: NewAlert): Promise<Alert>
  /** One alert, with all that is known of it. */ get(alert_id: string): Promise<Alert>
  /** Change the fields of the alert that are given. */ update(alert_id: string, params: AlertChange): Promise<Alert>
  /** Remove the alert; what waits for Slack and Teams is cancelled. */ delete(alert_id: string): Promise<void>
  /** Send an example of the alert to its destinations now. */ test(alert_id: string): Promise<NotificationTest>
  deliveries: {
   /** List what was sent of the alert, newest first. */ list(alert_id: string, params?: WebhooksDeliveriesListParams): List<NotificationDeliveryPage>
   /** One delivery with its body and attempts. */ get(alert_id: string, delivery_id: string): Promise<NotificationDeliveryDetail>
   /** Send a delivery again, as that of a webhook. */ redeliver(alert_id: string, delivery_id: string): Promise<NotificationDelivery>
  }
 }
 digests: {
  list(params?: PageParams): List<DigestPage>
  create(params: NewDigest): Promise<Digest>
  /** One digest, with all that is known of it. */ get(digest_id: string): Promise<Digest>
  /** Change the fields of the digest that are given. */ update(digest_id: string, params: DigestChange): Promise<Digest>
  /** Remove the digest; what waits for Slack and Teams is cancelled. */ delete(digest_id: string): Promise<void>
  /** Send an example of the digest to its destinations now. */ test(digest_id: string): Promise<NotificationTest>
  deliveries: {
   /** List what was sent of the digest, newest first. */ list(digest_id: string, params?: WebhooksDeliveriesListParams): List<NotificationDeliveryPage>
   /** One delivery with its body and attempts. */ get(digest_id: string, delivery_id: string): Promise<NotificationDeliveryDetail>
   /** Send a delivery again, as that of a webhook. */ redeliver(digest_id: string, delivery_id: string): Promise<NotificationDelivery>
  }
 }
}
