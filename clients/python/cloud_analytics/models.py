# Made of the API's document by `bun run clients`; do not edit.
"""What the API answers. Each is a dict whose fields are attributes too: `session.id`, `session["id"]`."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from ._core import Model, Page

VERSION = "0.3.0.dev0"
Vendor = Literal[
    "anthropic", "openai", "aws", "google", "github", "cursor", "openrouter", "other"
]
Role = Literal[
    "owner", "admin", "developer", "auditor"
]
FileStatus = Literal[
    "added", "modified", "deleted", "renamed"
]
Provenance = Literal[
    "none", "trailer", "transcript", "note"
]
ReportType = Literal[
    "audit", "soc2", "iso27001", "custom"
]
EffectRecordKind = Literal[
    "setting", "file", "training", "other", "assigned"
]
Scope = Literal[
    "read", "write", "webhooks", "admin", "sessions:read", "quality:read", "cost:read", "security:read",
    "team:read", "audit:read", "risk:read", "sessions:write", "commits:write", "risk:write", "members:write",
    "budgets:write", "reports:write", "audit:write", "ingest"
]
AlertMetric = Literal[
    "cost", "forecast", "budget_percent", "average_quality", "findings", "unpriced_tokens", "silent_machines",
    "failing_endpoints", "idle_seats", "limit_hits"
]
ListedFindingSeverity = Literal[
    "critical", "high", "medium", "low"
]
ListedFindingStatus = Literal[
    "open", "fixed", "accepted", "dismissed"
]
SessionSort = Literal[
    "created_at", "estimated_cost", "turns", "quality_score"
]
BreakdownBy = Literal[
    "project", "member", "team", "model", "agent", "branch", "ticket", "day", "week", "month", "version",
    "effort", "skill", "subagent", "mcp_server", "plugin", "tier", "vendor", "paid_by"
]
CostBreakdownTier = Literal[
    "", "standard", "fast", "flex", "priority", "batch", "long"
]
CostBreakdownVendor = Literal[
    "", "anthropic", "openai", "aws", "google", "github", "cursor", "openrouter", "other"
]
CostBreakdownPaidBy = Literal[
    "", "plan", "api", "unknown"
]
BreakdownSort = Literal[
    "cost", "tokens", "sessions", "unpriced_tokens", "change", "key"
]
CostExplainBy = Literal[
    "project", "member", "team", "model", "agent", "branch", "vendor"
]
ChangePartCause = Literal[
    "prompts", "calls_per_prompt", "model_mix", "input_per_call", "output_per_call", "cache_read_per_call",
    "cache_write_per_call", "price", "undivided"
]
RangeFactKind = Literal[
    "version", "model", "price", "budget", "note"
]
CostFirstDaysBy = Literal[
    "project", "member", "team", "model", "agent", "branch"
]
CostGranularity = Literal[
    "day", "week", "month", "year"
]
EffectsListVerdict = Literal[
    "too_early", "too_few", "unchecked", "withheld", "not_seen", "drift_possible", "seen", "moved"
]
EffectsListKind = Literal[
    "version", "model", "effort", "mcp_server", "skill", "cache_lifetime", "price", "setting", "file",
    "training", "other", "assigned"
]
EffectMeasure = Literal[
    "cost_per_prompt", "cost_per_call", "failed_tool_share", "quality"
]
NewEffectKind = Literal[
    "setting", "file", "training", "other"
]
Rating = Literal[
    "low", "medium", "high", "critical"
]
OutcomesBy = Literal[
    "month", "week", "project", "repo", "member", "team", "agent"
]
SubscribedEvent = Literal[
    "session.completed", "quality.score_changed", "security.alert", "cost.budget_exceeded",
    "team.member_joined", "compliance.report_ready", "alert.fired", "alert.resolved", "digest.ready", "*"
]
EventName = Literal[
    "session.completed", "quality.score_changed", "security.alert", "cost.budget_exceeded",
    "team.member_joined", "compliance.report_ready", "alert.fired", "alert.resolved", "digest.ready"
]
DeliveryStatus = Literal[
    "pending", "pending_retry", "success", "failed", "cancelled"
]
SentEvent = Literal[
    "session.completed", "quality.score_changed", "security.alert", "cost.budget_exceeded",
    "team.member_joined", "compliance.report_ready", "alert.fired", "alert.resolved", "digest.ready",
    "webhook.test"
]
BadgeStyle = Literal[
    "flat", "flat-square", "plastic", "for-the-badge", "social"
]
SeatVerdict = Literal[
    "new", "idle", "limited", "low", "fits"
]
DigestWeekday = Literal[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"
]

class PullRequest(Model):
    repo: str
    number: int

class SessionRecordSurvival(Model):
    """Of the agents’ lines in its landed commits, how much was there 14 and 30 days later."""
    # ["14"]: Optional[float]
    # ["30"]: Optional[float]

class PrRiskRecordContributionsImpact(Model):
    name: str
    value: float  # what was measured
    points: float  # what it adds to the part

class PrRiskRecordContributions(Model):
    impact: List[PrRiskRecordContributionsImpact]  # hotspot, spread, entropy, single_owner
    regression: List[PrRiskRecordContributionsImpact]  # measures of the change, and `base`: a change of nothing
    security: List[PrRiskRecordContributionsImpact]  # open findings in the files by severity, and kinds of sensitive files
    coupling: List[PrRiskRecordContributionsImpact]  # files that usually change with these and are missing, by how surely they do

class SkippedSession(Model):
    id: str
    reason: Literal["deleted", "retention"]

class MovedSessions(Model):
    # ["from"]: str
    to: str
    sessions: int

class SyncResult(Model):
    received: int
    created: int  # not known before
    updated: int  # known, and now different
    unchanged: int  # known as they are, or skipped
    skipped: List[SkippedSession]  # Sessions that were not stored: they were deleted, or are older than the organization keeps. Absent where there are none; absent where there is none
    moved: List[MovedSessions]  # With `moved=true`: how many of the updated sessions had another project. Absent where there are none; absent where there is none

class WhoAmIOrganization(Model):
    id: str
    slug: str
    name: str
    plan: Literal["cloud_pro", "cloud_team", "cloud_enterprise"]
    time_zone: str  # A name of IANA: days, weeks and months are those of the zone

class WhoAmIKeyMember(Model):
    """Whose sessions the key sends."""
    id: Optional[str]  # null while no member has the address
    email: str

class WhoAmIKey(Model):
    """null for a person who signed in."""
    id: str
    name: str
    scopes: List[Scope]
    expires_at: Optional[str]
    member: Optional[WhoAmIKeyMember]  # Whose sessions the key sends

class WhoAmIMember(Model):
    """The person, or whose sessions the key sends."""
    id: str
    email: str
    display_name: str
    role: Role

class WhoAmILimits(Model):
    """Of the organization, shared by its keys."""
    read: int  # Requests a minute
    sync: int  # Requests of POST /v1/sync a minute

class WhoAmI(Model):
    organization: WhoAmIOrganization
    key: Optional[WhoAmIKey]  # null for a person who signed in
    member: Optional[WhoAmIMember]  # The person, or whose sessions the key sends
    scopes: List[Scope]
    csrf_token: str  # Of a person: X-CSRF-Token of requests that change something; absent where there is none
    limits: WhoAmILimits  # Of the organization, shared by its keys

class AlertScope(Model):
    """Whose figures; {}: those of the organization."""
    project: str  # absent where there is none
    member: str  # An id, or an address in any case; it is shown as the id; absent where there is none
    team: str  # absent where there is none
    model: str  # absent where there is none
    agent: str  # absent where there is none

class Destination(Model):
    type: Literal["webhook", "slack", "teams"]  # webhook: every endpoint that subscribes to the event
    url: str  # Of Slack and Teams: only its last 4 characters; absent where there is none

class AlertKey(Model):
    key: Optional[str]  # null: without one
    state: Literal["ok", "firing", "no_data"]  # With `each`: firing if one of the keys is
    since: str  # Since when it has this state
    last_value: Optional[float]  # At the last look; null: no data

class Alert(Model):
    id: str
    name: str
    metric: AlertMetric
    scope: AlertScope  # Whose figures; {}: those of the organization
    each: Optional[Literal["project", "member", "team"]]
    window: Literal["day", "week", "month"]  # The day, week (from Monday) or month of the time zone that is now
    above: float  # Fires above it; one of `above`, `below` and `times` is there; absent where there is none
    below: float  # Fires below it; absent where there is none
    times: float  # Fires above this many times the median of the 14 windows before; absent where there is none
    no_data: Literal["ok", "fire"]  # What happens where the figure has no value
    renotify_minutes: Optional[int]  # Tells again after this time; null: once
    enabled: bool
    destinations: List[Destination]
    state: Literal["ok", "firing", "no_data"]  # With `each`: firing if one of the keys is
    since: str  # Since when it has this state
    last_value: Optional[float]  # At the last look; null: no data
    # ["keys"]: List[AlertKey]  # With `each`, of one alert: the states of its keys, those that fire first

class BudgetScope(Model):
    """One of them, or none for the organization."""
    project: str  # absent where there is none
    member: str  # An id; absent where there is none
    team: str  # absent where there is none

class MyBudgetsBudget(Model):
    scope: BudgetScope
    limit: float  # US dollars
    current_cost: float  # US dollars of the month
    percent_used: float
    status: Literal["ok", "warning", "exceeded"]  # `warning`: from 80 percent on

class NamedBudget(MyBudgetsBudget):
    name: str  # Of the project, member or team; empty for the organization

class AttentionWindow(Model):
    vendor: Vendor  # Who is paid
    limit: str
    scope: Optional[str]  # The family of models that it is for; null: all
    used_percent: float
    resets_at: Optional[str]
    hit: bool

class WebhookHealth(Model):
    consecutive_failures: int  # Since the last success
    last_success_at: Optional[str]  # When an attempt was last answered with 2xx
    last_failure_at: Optional[str]  # When an attempt last failed
    last_status_code: Optional[int]  # Of the latest attempt; null: no answer

class WebhookEndpoint(Model):
    id: str  # Id of the endpoint
    url: str  # Where deliveries are sent
    events: List[str]  # Names of events, or `*` alone for all
    enabled: bool  # false: what waits is held, and new events pass by
    description: Optional[str]
    created_at: str  # When it was made
    updated_at: str  # When it was last changed
    secret_hint: str  # The last 4 characters of the signing secret
    health: WebhookHealth

class SessionMember(Model):
    """Whose session it is; null where that is not known, or not shown."""
    id: Optional[str]
    email: Optional[str]

class Finding(Model):
    id: str
    rule_id: str
    category: str
    severity: ListedFindingSeverity
    title: str
    description: Optional[str]
    file: Optional[str]
    line: Optional[int]
    turn_number: Optional[int]
    fingerprint: str
    status: ListedFindingStatus
    assignee: Optional[str]  # Id of the member who is to mend it
    note: str  # What was decided and why, where somebody said so; absent where there is none
    created_at: str

class ListedFinding(Finding):
    session_id: str
    project: Optional[str]
    member: Optional[SessionMember]  # Whose session it is; null where that is not known, or not shown

class AttentionCritical(Model):
    """Open critical findings; none without the scope `security:read`."""
    total: int
    oldest: List[ListedFinding]  # At most three

class AttentionUnpriced(Model):
    model: Optional[str]
    tokens: int

class Machine(Model):
    member: Optional[SessionMember]  # Whose sessions it sends; null where its requests had no user, or several
    machine: str  # as in X-Machine
    last_seen_at: str  # When it sent records, to the minute
    sessions: int  # sessions that were new when it sent them, deleted ones included

class AttentionBackup(Model):
    """Where it failed, is missing, or is older than 2 × BACKUP_EVERY (two days without); with the scope `admin`, of a server that has one organization."""
    last_at: Optional[str]  # When the newest one began
    failed_at: Optional[str]  # Since the last success

class Attention(Model):
    alerts: List[Alert]  # Those that fire, or miss data where they are to fire then
    budgets: List[NamedBudget]  # Of projects, members and teams, exceeded this month; /cost has that of the organization
    mine: List[NamedBudget]  # Those of the organization, the member of the request and their team
    windows: List[AttentionWindow]  # Those that are not over
    endpoints: List[WebhookEndpoint]  # Those whose last attempt failed; with the scope `webhooks`
    critical: AttentionCritical  # Open critical findings; none without the scope `security:read`
    unpriced: List[AttentionUnpriced]  # Models without a known price in the last 30 days, those with most tokens first
    silent_machines: List[Machine]  # Those that sent sessions, and for 3 to 30 days nothing; none without the scope `team:read`
    backup: Optional[AttentionBackup]  # Where it failed, is missing, or is older than 2 × BACKUP_EVERY (two days without); with the scope `admin`, of a server that has one organization
    days_moved_at: Optional[str]  # When cost moved from the first days of sessions to those of their calls; null where there was none before

class Session(Model):
    id: str
    project_name: Optional[str]
    turns: int
    estimated_cost: float  # US dollars, at most 6 decimals; 0 where nothing is known
    quality_score: float  # How smoothly it went (errors, rework, interruptions), no measure of its code; 0 to 100, high is good
    created_at: str  # When the session began
    member: Optional[SessionMember]  # With `include=details`: whose it is; null where that is not known, or not shown; absent where there is none
    agent: Optional[str]  # With `include=details`; absent where there is none
    model: Optional[str]  # With `include=details`; absent where there is none
    branch: Optional[str]  # With `include=details`; absent where there is none
    ended_at: Optional[str]  # With `include=details`; absent where there is none
    findings: int  # With `include=details`: number of its open findings; absent where there is none

class Pagination(Model):
    page: int
    per_page: int
    total: int  # Items on all pages, exactly

class SessionPage(Page["Session"]):
    """A page of Session."""

class SessionTokens(Model):
    input: Optional[int]
    output: Optional[int]
    cache_read: Optional[int]
    cache_creation: Optional[int]
    cache_creation_1h: Optional[int]  # the part of cache_creation that is kept for an hour; left out where there is none; absent where there is none

class SessionDetailToolsUsed(Model):
    name: str
    calls: int
    errors: int

class Tokens(Model):
    input: int  # without what was read from the cache
    output: int  # reasoning included, as it is billed
    cache_read: int
    cache_creation: int
    cache_creation_1h: int  # the part of cache_creation that is kept for an hour; left out where there is none; absent where there is none

class ToolCall(Model):
    name: str
    ok: Optional[bool]

class Turn(Model):
    turn_number: int
    role: str
    model: Optional[str]
    tier: str  # Only where the price is not the list price; absent where there is none
    version: str  # Of the agent; absent where there is none
    effort: str  # How much the model was asked to think; absent where there is none
    vendor: Vendor  # Who is paid for the call; absent where there is none
    paid_by: Literal["plan", "api", "unknown"]  # absent where there is none
    skill: str  # That the call was made for; absent where there is none
    subagent: str  # The type of the sub-agent that made it; absent where there is none
    mcp_server: str  # Whose tool led to the call; absent where there is none
    plugin: str  # That skill, sub-agent or server is of; absent where there is none
    started_at: Optional[str]
    tokens: Optional[Tokens]
    cost: Optional[float]
    tool_calls: List[ToolCall]
    content: str  # Only where the operator stores content; absent where there is none

class Observation(Model):
    id: str
    type: str
    title: str
    content: Optional[str]
    importance: int
    file_path: Optional[str]
    turn_number: Optional[int]
    created_at: str

class SessionDetailAnalysis(Model):
    summary: Optional[str]
    issues: List[str]
    classification: Optional[str]

class QualityFactor(Model):
    name: str
    category: str
    count: float  # what was counted or measured
    weight: float  # points at full strength
    points: float  # what it adds to the score

class QualityMetadata(Model):
    score: float
    base: float  # base + the sum of points, within 0 and 100, is score
    factors: List[QualityFactor]
    breakdown: Dict[str, float]  # points by category
    scored_at: str
    previous_score: Optional[float]

class SecurityMetadata(Model):
    score: float
    findings: List[Finding]

class SessionDetail(Model):
    id: str
    project_name: Optional[str]
    turns: int
    estimated_cost: float  # US dollars, at most 6 decimals; 0 where nothing is known
    quality_score: float  # How smoothly it went (errors, rework, interruptions), no measure of its code; 0 to 100, high is good
    created_at: str  # When the session began
    user_id: Optional[str]
    unpriced_tokens: int  # tokens of all kinds whose price is not known: they add nothing to estimated_cost
    landed: Optional[bool]  # Whether the default branch has a commit of it; null where none is known
    reverted: Optional[bool]  # Whether a later commit that reverts one of them names it
    survival: SessionRecordSurvival  # Of the agents’ lines in its landed commits, how much was there 14 and 30 days later
    source: Optional[str]
    branch: Optional[str]
    pull_requests: List[PullRequest]  # Left out where there is none; absent where there is none
    model: Optional[str]
    models: List[str]
    started_at: Optional[str]
    ended_at: Optional[str]
    duration_seconds: Optional[float]
    tokens: Optional[SessionTokens]
    origin: Literal["transcript", "telemetry", "both"]
    cost_source: Literal["reported", "estimated"]
    stated_cost: Optional[float]  # US dollars that the agent states for the whole session, at its own prices; the cost is that of the tokens, wherever they have a price
    version: Optional[str]  # Of the agent
    effort: Optional[str]  # How much the model was asked to think
    vendor: Optional[Vendor]
    paid_by: Optional[Literal["plan", "api", "unknown"]]
    tools_used: List[SessionDetailToolsUsed]
    files_touched: Optional[List[str]]
    summary: Optional[str]
    turn_records: List[Turn]
    observations: List[Observation]
    analysis: SessionDetailAnalysis
    quality_metadata: QualityMetadata
    security_metadata: SecurityMetadata

class SessionName(Model):
    name: str
    sessions: int  # A session counts under each of its models
    last_session_at: str  # When the newest of them began

class SessionNamePage(Page["SessionName"]):
    """A page of SessionName."""

class QualityOverviewScoresByDate(Model):
    date: str
    score: float  # mean of the day

class QualityOverviewPrevious(Model):
    """In the range of `compare`."""
    average_score: float  # mean of all matching sessions, 0 without any
    total_sessions: int

class QualityOverview(Model):
    average_score: float  # mean of all matching sessions, 0 without any
    total_sessions: int
    trend: Literal["up", "down", "stable"]  # the later half of the days with sessions against the earlier half; stable within 1 point
    scores_by_date: List[QualityOverviewScoresByDate]  # days with sessions, ascending
    previous: QualityOverviewPrevious  # In the range of `compare`; absent where there is none

class QualityTrendData(Model):
    date: str  # the bucket's first day; weeks begin on Monday
    score: float  # mean of the bucket
    sessions: int
    min_score: float  # lowest of the bucket
    max_score: float  # highest of the bucket
    lower_quartile: float  # with `include=quartiles`: a quarter of the sessions has at most this; absent where there is none
    upper_quartile: float  # three quarters have at most this; absent where there is none

class QualityTrend(Model):
    granularity: Literal["day", "week", "month"]
    data: List[QualityTrendData]

class CostSummaryByPeriod(Model):
    period: str  # first day of the period
    cost: float  # of the period; US dollars

class CostSummaryByProject(Model):
    project: Optional[str]
    cost: float  # of the project, null: of none; US dollars

class ScopedBudgetUsed(Model):
    """With `include=used`: what the month cost, and this month will; null for a limit that is not in force then, or whose cost the caller may not see."""
    current_cost: float  # US dollars of the month
    percent_used: float
    status: Literal["ok", "warning", "exceeded"]  # `warning`: from 80 percent on
    projected_cost: float  # Of the month at its end
    projected_exceed_date: Optional[str]

class Budget(ScopedBudgetUsed):
    id: str
    scope: Literal["organization", "project"]  # `project`: of the project that is asked for, where it has one
    period: Literal["monthly"]
    period_start: str  # first day of the current month
    period_end: str  # its last day
    limit: float  # for the month; US dollars
    remaining: float  # limit less what was spent, 0 when exceeded; US dollars
    alert_threshold: float  # percent used from which the status is warning
    currency: Literal["USD"]

class CostSummaryPrevious(Model):
    """In the range of `compare`."""
    total_cost: float  # of all that was used in the range; US dollars
    unpriced_tokens: int  # tokens used in the range whose price is not known: total_cost is without them

class CostSummary(Model):
    total_cost: float  # of all that was used in the range; US dollars
    unpriced_tokens: int  # tokens used in the range whose price is not known: total_cost is without them
    current_month: float  # of the current month, date filters aside; US dollars
    currency: Literal["USD"]
    by_period: List[CostSummaryByPeriod]
    by_project: List[CostSummaryByProject]
    current_budget: Optional[Budget]
    previous: CostSummaryPrevious  # In the range of `compare`; absent where there is none

class BreakdownItemTokens(Model):
    input: int
    output: int
    cache_read: int
    cache_creation: int

class BreakdownItemCostByKind(Model):
    """The cost by kind, which add up to it exactly; `other`: searches, and stated costs without tokens."""
    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    other: float

class PreviousRange(Model):
    """In the range of `compare`."""
    cost: float
    sessions: int

class BreakdownTotal(Model):
    """It counts the items of all pages."""
    sessions: int  # That began in the range. One counts once under each of its models; in the total, once
    turns: int  # In the range, of sessions with the key
    tokens: BreakdownItemTokens
    cost: float  # US dollars, exact to 6 decimals
    cost_by_kind: BreakdownItemCostByKind  # The cost by kind, which add up to it exactly; `other`: searches, and stated costs without tokens
    share: float  # Fraction of the total cost, rounded to 6 decimals; 0 where nothing costs
    unpriced_tokens: int  # Tokens of models without a known price, of all four kinds; they cost nothing
    previous: PreviousRange  # In the range of `compare`; absent where there is none

class BreakdownItem(BreakdownTotal):
    key: Optional[str]  # A name; a member’s id, or the address where no member has it; the first day of a day, week or month; null for sessions without a member, team, branch …, and calls without a version, skill …
    and_key: Optional[str]  # The second key; `(others)` for those beyond `top`; absent where there is none

class Breakdown(Page["BreakdownItem"]):
    total: BreakdownTotal

class ExplanationAgainst(Model):
    # ["from"]: str
    to: str

class ChangePart(Model):
    cause: ChangePartCause  # `undivided`: costs without tokens, and sessions without calls. `prompts` has the whole change of a key of which one range has no prompts, calls or tokens
    amount: float  # US dollars, exact to 6 decimals
    before: Optional[float]  # What drives the cause: prompts, calls per prompt, tokens per call; to 6 decimals. null for `model_mix`, `price`, `undivided`, and where nothing is divided by
    after: Optional[float]  # What drives the cause: prompts, calls per prompt, tokens per call; to 6 decimals. null for `model_mix`, `price`, `undivided`, and where nothing is divided by

class ExplainedKeyParts(Model):
    """They add up to the change of the key, and each of all keys to the part of the total."""
    prompts: float  # US dollars, exact to 6 decimals
    calls_per_prompt: float  # US dollars, exact to 6 decimals
    model_mix: float  # US dollars, exact to 6 decimals
    input_per_call: float  # US dollars, exact to 6 decimals
    output_per_call: float  # US dollars, exact to 6 decimals
    cache_read_per_call: float  # US dollars, exact to 6 decimals
    cache_write_per_call: float  # US dollars, exact to 6 decimals
    price: float  # US dollars, exact to 6 decimals
    undivided: float  # US dollars, exact to 6 decimals

class ExplainedKey(Model):
    key: Optional[str]
    before: float  # US dollars, exact to 6 decimals
    after: float  # US dollars, exact to 6 decimals
    change: float  # US dollars, exact to 6 decimals
    parts: ExplainedKeyParts

class RangeFact(Model):
    day: str
    kind: RangeFactKind
    text: str
    link: str  # absent where there is none

class Explanation(Page["ExplainedKey"]):
    # ["from"]: str
    to: str
    against: ExplanationAgainst
    before: float  # US dollars, exact to 6 decimals
    after: float  # US dollars, exact to 6 decimals
    change: float  # US dollars, exact to 6 decimals
    parts: List[ChangePart]  # They add up to `change` exactly
    facts: List[RangeFact]  # What happened in the range: the organization’s first use ever of a version or model, a price that changed, a budget in force from that day or exceeded on it, a note

class FirstDaysData(Model):
    key: str  # As in the breakdown
    first_day: str  # Of its first session

class FirstDays(Model):
    data: List[FirstDaysData]  # By `first_day`, then key: what comes later changes no place before it; at most 1,000

class PriceGuess(Model):
    nearest: Optional[str]  # The nearest model of the family; null: none, or the model has a price
    line: Optional[str]  # For the file of `MODEL_PRICES`, with blanks where nothing is known; null: the model has a price

class CostTrendData(Model):
    period: str  # first day of the bucket; weeks begin on Monday
    cost: float  # of the bucket; US dollars
    sessions: int
    cumulative_cost: float  # up to and with the bucket; US dollars
    budget: Optional[float]  # monthly limit of the organization in force on the first day of the bucket; US dollars

class CostTrend(Model):
    granularity: CostGranularity  # as asked for; the next coarser one where an end of the range that is not given makes more than 10,000 buckets
    data: List[CostTrendData]

class EffectChange(Model):
    trait: EffectsListKind
    value: str
    source: Literal["noticed", "recorded", "assigned"]
    first_week: str  # Monday
    unit: Literal["member", "repository"]

class EffectWeeks(Model):
    before: int
    after: int

class EffectClusters(Model):
    by: Literal["member", "team", "repository"]
    changed: int
    others: int

class EffectMoneyParts(Model):
    """They add up to `extra`."""
    price: float
    calls_per_prompt: float
    model_mix: float
    input_per_call: float
    output_per_call: float
    cache_read_per_call: float
    cache_write_5m_per_call: float
    cache_write_1h_per_call: float
    other_per_call: float

class EffectMoney(Model):
    compared: float  # US dollars: cost after the change of what is compared, of those who changed
    extra: float  # US dollars: what the change made of it
    low: Optional[float]
    high: Optional[float]
    parts: EffectMoneyParts  # They add up to `extra`

class EffectPlacebo(Model):
    """The same before the change, where there must be nothing."""
    effect: float
    low: float
    high: float

class Effect(Model):
    id: str
    name: str
    change: EffectChange
    evidence: Literal["compared", "own_past", "assigned"]  # Compared with those who had not changed; with the own past, where all changed at once; or days that were drawn
    verdict: EffectsListVerdict
    measure: EffectMeasure
    weeks: Optional[EffectWeeks]
    changed: int  # Units that changed and are compared
    others: int  # Units that had not changed
    clusters: Optional[EffectClusters]
    effect: Optional[float]  # A share for costs, else the difference
    low: Optional[float]  # The lower end of its range; null also where it has none
    high: Optional[float]  # The upper end of its range; null also where it has none
    visible_rise: Optional[float]  # A rise from which on it could have been seen
    visible_fall: Optional[float]  # The same of a fall
    p: Optional[float]  # Of assigned ones: how often another draw shows as much
    money: Optional[EffectMoney]
    compared_share: Optional[float]  # The compared share of the cost of those who changed
    placebo: Optional[EffectPlacebo]  # The same before the change, where there must be nothing
    dismissed: bool
    also_changed: List[str]  # Ids of changes of one of its units within four weeks of this one
    look_at: Optional[str]  # When there is something to see; null: now
    notes: List[Literal["not_assigned"]]

class EffectPage(Page["Effect"]):
    """A page of Effect."""

class Arm(Model):
    arm: int  # 1 where the change is on

class Note(Model):
    id: str
    day: str  # A day of the organization’s zone
    text: str
    project: str  # It concerns this project; absent where there is none
    team: str  # It concerns this team; absent where there is none

class NotePage(Page["Note"]):
    """A page of Note."""

class SecurityOverviewSummary(Model):
    avg_score: float  # mean of all matching sessions, 0 without any
    min_score: float  # lowest of them
    max_score: float  # highest of them
    total_sessions: int

class SecurityOverviewFound(Model):
    """With `compare`: findings of the sessions, of any status."""
    critical: int
    total: int

class SecurityOverviewPrevious(Model):
    """In the range of `compare`."""
    avg_score: float  # mean of all matching sessions, 0 without any
    min_score: float  # lowest of them
    max_score: float  # highest of them
    total_sessions: int
    found: SecurityOverviewFound

class SecurityOverviewRecentSession(Model):
    id: str
    project: Optional[str]
    created_at: str  # When the session began
    security_metadata: SecurityMetadata

class SecurityOverview(Model):
    summary: SecurityOverviewSummary
    found: SecurityOverviewFound  # With `compare`: findings of the sessions, of any status; absent where there is none
    previous: SecurityOverviewPrevious  # In the range of `compare`; absent where there is none
    recent_sessions: List[SecurityOverviewRecentSession]  # the 10 newest of the matching sessions

class HeatmapFileFindings(Model):
    critical: int  # distinct findings, by fingerprint, that are critical at their gravest
    high: int  # distinct findings, by fingerprint, that are high at their gravest
    medium: int  # distinct findings, by fingerprint, that are medium at their gravest
    low: int  # distinct findings, by fingerprint, that are low at their gravest
    total: int

class HeatmapFile(Model):
    file: str
    project: Optional[str]
    risk_score: float  # 25, 15, 8 and 3 points for each critical, high, medium and low finding, at most 100
    findings: HeatmapFileFindings
    sessions: int  # sessions with a finding in the file
    first_seen_at: str  # Begin of the first of them
    last_seen_at: str  # Begin of the last of them

class HeatmapSummary(Model):
    files: int  # files that match, on all pages
    average_risk: float  # their mean risk score, 0 without any
    files_above_threshold: int  # those with a risk score above `threshold`
    threshold: int

class Heatmap(Page["HeatmapFile"]):
    summary: HeatmapSummary

class FindingCountsSeverity(Model):
    critical: int
    high: int
    medium: int
    low: int

class FindingCountsCategoryProject(Model):
    key: Optional[str]
    findings: int

class FindingCountsCategoryMember(Model):
    key: Optional[SessionMember]  # Whose session it is; null where that is not known, or not shown
    findings: int

class FindingCountsCategory(Model):
    key: str
    findings: int
    project: List[FindingCountsCategoryProject]  # Projects with most of them, at most three
    member: List[FindingCountsCategoryMember]  # Members with most of them, at most three

class FindingCounts(Model):
    """With `include=counts`, of all pages."""
    severity: FindingCountsSeverity
    category: List[FindingCountsCategory]  # Categories with most of them, at most ten
    project: List[FindingCountsCategoryProject]  # Projects with most of them, at most three
    member: List[FindingCountsCategoryMember]  # Members with most of them, at most three

class ListedFindingPage(Page["ListedFinding"]):
    counts: FindingCounts  # absent where there is none

class AuditEntry(Model):
    id: str
    action: str
    user_id: str  # Who did it: `key_…` an API key, `cli:…` somebody at the command line, or as imported
    details: Dict[str, Any]  # What was done; `ids` are those of what was changed
    ip_address: str  # empty where none is known: commands
    created_at: str  # UTC, microseconds; no two entries of an organization have the same

class AuditEntryPage(Page["AuditEntry"]):
    """A page of AuditEntry."""

class AuditReportSummaryByAction(Model):
    action: str
    count: int

class AuditReportSummaryByUser(Model):
    user_id: str
    count: int

class AuditReportSummaryByDay(Model):
    date: str
    count: int

class AuditReportSummary(Model):
    total: int
    by_action: List[AuditReportSummaryByAction]  # By count descending, then by name
    by_user: List[AuditReportSummaryByUser]  # By count descending, then by name
    by_day: List[AuditReportSummaryByDay]  # Ascending; only UTC days with entries

class AuditReport(Model):
    source: Literal["pregenerated", "fallback"]  # Whether a compliance report was made, or this is read from the log
    report_id: Optional[str]
    generated_at: str  # When the report was made; of the fallback: time of the newest entry
    period: ExplanationAgainst  # UTC days, inclusive; of the fallback: the whole log
    summary: AuditReportSummary
    data: List[AuditEntry]
    truncated: bool  # Whether there are more
    next_cursor: Optional[str]  # created_at of the last entry here: the cursor to give next

class TeamOverviewMember(Model):
    id: str
    email: str
    display_name: str
    role: Role
    joined_at: str
    team: Optional[str]

class TeamOverviewActivitySummary(Model):
    sessions_last_7d: int  # sessions in the 168 hours before now
    active_members_last_7d: int  # members with at least one of them

class TeamOverview(Model):
    members: List[TeamOverviewMember]  # by joined_at, then id
    activity_summary: TeamOverviewActivitySummary

class ExpertiseDataDomain(Model):
    domain: str  # project and top-level directory; `.` for files beside the directories
    score: float  # 0 to 100: mean degree of authorship of the files, weighted with ln(1 + commits)
    commits: int  # their commits that touched the domain
    sessions: int  # their sessions that touched files of the domain
    files_owned: int  # files with at least 0.75 of the greatest degree of authorship
    ownership_percent: float  # files_owned in percent of the files
    is_primary_owner: bool  # owns most files of the domain
    last_active_at: str  # their latest commit to a file that is there

class ExpertiseData(Model):
    user_id: Optional[str]  # null for an owner of files whose address is no member’s
    display_name: str
    score: float  # With `path`: 0 to 100, by what they wrote of the file itself; absent where there is none
    domains: List[ExpertiseDataDomain]  # by score descending, then domain

class ExpertiseDomain(Model):
    domain: str  # project and top-level directory; `.` for files beside the directories
    files: int  # files that are there and that people changed
    bus_factor: int  # authors whose removal leaves more than half of the files without one
    primary_owner_id: Optional[str]  # null when the primary owner is no member

class Expertise(Model):
    data: List[ExpertiseData]  # members by joined_at, then id; then authors who are no members, by name. With `path` by `score`
    domains: List[ExpertiseDomain]  # by domain
    files: List[str]  # With a `path` that is only a name: the files, at most 20, that it means and `data` is of; absent where there is none

class MachinePage(Page["Machine"]):
    """A page of Machine."""

class Coverage(Model):
    member: Optional[SessionMember]  # Whose sessions; null for those without a user
    agent: Optional[str]
    sessions: int
    transcript_tokens: int  # of all four kinds, as transcripts and clients state them
    telemetry_tokens: int  # as telemetry states them
    captured_share: Optional[float]  # The part of the transcripts’ tokens that telemetry had too, 0 to 1: for each session no more than its transcript. Null without any transcript
    last_seen_at: str  # When the newest of the sessions ended

class CoveragePage(Page["Coverage"]):
    """A page of Coverage."""

class RiskScore(Model):
    id: str
    repo: str
    pr_number: int
    pr_title: str
    risk_score: int  # 0.30 impact + 0.25 regression + 0.25 security + 0.20 coupling, rounded
    impact_score: float  # How much it can do: hotspots, spread, files that few know; 0 to 100, high is bad
    regression_score: float  # Chance that it brings a defect in, in percent; 0 to 100, high is bad
    security_score: float  # Open findings in its files, and sensitive ones among them; 0 to 100, high is bad
    coupling_score: float  # Files that usually change with these and are missing; 0 to 100, high is bad
    files_changed: int
    created_at: str  # When the pull request was opened
    rating: Rating  # low to 30, medium to 60, high to 80, else critical
    contributions: PrRiskRecordContributions
    cost: float  # Its parts of the cost of its sessions, US dollars; with `include`; absent where there is none
    sessions: int  # Sessions that worked on it; with `include`; absent where there is none
    state: Literal["open", "merged", "closed"]  # With `include`; absent where there is none

class RiskScorePage(Page["RiskScore"]):
    """A page of RiskScore."""

class FixRate(Model):
    rating: Rating
    pull_requests: int  # The newest merged ones of this rating, 100 at most
    followed_by_fix: int  # Those after which a fix changed one of their files within 30 days: docs/risk.md
    share: Optional[float]  # null below 20 pull requests; rounded to 6 decimals

class RiskSession(Model):
    id: str
    project_name: Optional[str]
    turns: int
    estimated_cost: float  # US dollars
    part: float  # What of it the pull request has: all, or an equal part where several have the session; US dollars
    quality_score: float  # 0 to 100, high is good
    created_at: str  # When the session began

class RiskSessions(Model):
    count: int  # Sessions that worked on the pull request
    cost: float  # The sum of their parts; US dollars
    average_quality: float  # 0 without sessions
    findings: int  # Security findings of these sessions
    data: List[RiskSession]  # The newest 50 of them

class RiskDetail(Model):
    id: str
    repo: str
    pr_number: int
    pr_title: str
    risk_score: int  # 0.30 impact + 0.25 regression + 0.25 security + 0.20 coupling, rounded
    impact_score: float  # How much it can do: hotspots, spread, files that few know; 0 to 100, high is bad
    regression_score: float  # Chance that it brings a defect in, in percent; 0 to 100, high is bad
    security_score: float  # Open findings in its files, and sensitive ones among them; 0 to 100, high is bad
    coupling_score: float  # Files that usually change with these and are missing; 0 to 100, high is bad
    files_changed: int
    created_at: str  # When the pull request was opened
    rating: Rating  # low to 30, medium to 60, high to 80, else critical
    contributions: PrRiskRecordContributions
    state: Literal["open", "merged", "closed"]  # `open` where no record says it
    merged_at: Optional[str]
    closed_at: Optional[str]
    url: Optional[str]
    effective_lines: int  # Effective lines that its commits added, as far as these were sent with their lines
    ai_lines: int  # Those of the lines that agents wrote
    ai_share: Optional[float]  # ai_lines ÷ effective_lines
    fix_rate: FixRate
    sessions: RiskSessions

class OutcomePullRequests(Model):
    """In the period in which they were merged or closed, else opened."""
    open: int
    merged: int
    closed: int

class SurvivingLines(Model):
    lines: int  # Agents’ lines that were still there 14 days later
    of: int  # Agents’ lines of the commits that are old enough and of which that was sent
    share: Optional[float]  # `lines` ÷ `of`; rounded to 6 decimals

class OutcomeSurvival(Model):
    """Read by name."""
    # ["14"]: SurvivingLines
    # ["30"]: SurvivingLines

class OutcomesTotalPrevious(Model):
    """In the range of `compare`."""
    pull_requests: OutcomePullRequests  # In the period in which they were merged or closed, else opened
    merge_rate: Optional[float]  # merged ÷ (merged + closed); rounded to 6 decimals
    cost: float  # Of the sessions of the group; US dollars
    linked_cost: float  # The parts of sessions that belong to the group’s pull requests, whenever they were; US dollars
    linked_share: Optional[float]  # How much of `cost` is linked to a pull request; rounded to 6 decimals
    cost_per_merged_pull_request: Optional[float]  # `linked_cost` ÷ merged; US dollars
    commits: Optional[int]
    effective_lines: Optional[int]  # Added lines that count: docs/outcomes.md
    ai_lines: int  # Those of them that agents wrote
    ai_share: Optional[float]  # `ai_lines` ÷ `effective_lines`; rounded to 6 decimals
    survival: Optional[OutcomeSurvival]

class Outcome(OutcomesTotalPrevious):
    key: Optional[str]  # The first day of a month or week; a project, repository, team, agent; a member’s id, or the address where no member has it; null where there is none

class OutcomesTotal(OutcomesTotalPrevious):
    """It counts the items of all pages."""
    previous: OutcomesTotalPrevious  # In the range of `compare`; absent where there is none

class Outcomes(Page["Outcome"]):
    total: OutcomesTotal

class WebhookEndpointList(Page["WebhookEndpoint"]):
    """A page of WebhookEndpoint."""

class CreatedWebhookEndpoint(WebhookEndpoint):
    secret: str  # Signs every delivery; shown here only, keep it

class RotatedSecret(Model):
    id: str  # Id of the endpoint
    secret: str  # Signs every delivery; shown here only, keep it; absent where there is none
    previous_secret_expires_at: Optional[str]  # Until when deliveries are signed with the former secret too; null: they are not

class WebhookTestResult(Model):
    delivery_id: str
    event: str
    success: bool  # The receiver answered with 2xx
    status_code: Optional[int]  # null: no answer
    duration_ms: int
    error: Optional[str]  # What went wrong
    response_body: Optional[str]  # The first 1 KiB of the answer

class RecoveryResult(Model):
    count: int  # Deliveries that are sent again

class EventCatalogueDataExample(Model):
    """A body."""
    id: str  # The same at every attempt and in every redelivery
    event: str  # Name of the event
    test: bool  # There where it is an example, which the test of an endpoint sent; absent where there is none
    type: str  # The same as `event`
    timestamp: str  # When it happened: UTC, milliseconds
    api_version: Literal["v1"]
    data: Dict[str, Any]

class EventCatalogueData(Model):
    name: str
    meaning: str
    schema: Dict[str, Any]  # JSON Schema of the body that is sent
    example: EventCatalogueDataExample  # A body

class EventCatalogue(Model):
    data: List[EventCatalogueData]

class Delivery(Model):
    id: str  # Also in the header X-Service-Delivery
    event: str
    event_id: str  # Also in the header webhook-id
    status: DeliveryStatus  # pending: to be sent; pending_retry: failed, and sent again later; failed: given up; cancelled: its endpoint is gone
    attempts: int  # Attempts begun
    next_attempt_at: Optional[str]  # When it is sent next; null: it is finished, or an attempt is in flight
    last_status_code: Optional[int]  # Of the latest attempt; null: no answer
    created_at: str  # When the event happened
    completed_at: Optional[str]  # When it was finished

class DeliveryPage(Page["Delivery"]):
    """A page of Delivery."""

class Attempt(Model):
    number: int
    started_at: str  # When it was begun
    duration_ms: Optional[int]  # null: it is not known how it ended
    status_code: Optional[int]  # null: no answer
    error: Optional[str]  # What went wrong
    response_body: Optional[str]  # The first 1 KiB of the answer

class DeliveryDetailRequest(Model):
    headers: Dict[str, str]  # As at the latest attempt; signatures are hidden
    body: str  # What is sent, to the byte

class DeliveryDetail(Model):
    id: str  # Also in the header X-Service-Delivery
    event: str
    event_id: str  # Also in the header webhook-id
    status: DeliveryStatus  # pending: to be sent; pending_retry: failed, and sent again later; failed: given up; cancelled: its endpoint is gone
    attempts: List[Attempt]  # Those that have ended, from the first
    next_attempt_at: Optional[str]  # When it is sent next; null: it is finished, or an attempt is in flight
    last_status_code: Optional[int]  # Of the latest attempt; null: no answer
    created_at: str  # When the event happened
    completed_at: Optional[str]  # When it was finished
    request: DeliveryDetailRequest

class ShieldsBadge(Model):
    schemaVersion: float
    label: str
    message: str
    color: str
    style: BadgeStyle  # absent where there is none
    cacheSeconds: int

class Health(Model):
    """Every part works."""
    status: str  # `ok`, or `error` when a part fails
    version: str
    instance: str  # Tells the server’s data from those of others; `health` and `doctor` compare it
    database: str  # `ok`, or what is wrong
    worker: str  # `ok`, or what is wrong

class Readiness(Model):
    """Requests may be sent."""
    status: str  # `ready`, or `not ready` when a part fails
    database: str  # `ok`, or what is wrong
    disk: str  # `ok`, or what is wrong with the embedded database’s disk or the folder of backups
    worker: str  # `ok`, or what is wrong
    schema: str  # `ok`, or that a newer program has migrated the database

class Liveness(Model):
    status: str  # `ok`

class ServerLastBackup(Model):
    """The newest complete one that the server made."""
    at: str  # When it began
    bytes: int  # Size of its file

class ServerDisk(Model):
    """It holds the data directory; null where the database is another server’s."""
    free_bytes: int  # Free space, to 100 MB
    total_bytes: int  # All of its space

class Server(Model):
    version: str
    database_bytes: int  # Size of the database on disk
    backup_every_seconds: Optional[float]  # null: the server makes none
    last_backup: Optional[ServerLastBackup]  # The newest complete one that the server made
    backup_failed_at: Optional[str]  # Since the last success
    disk: Optional[ServerDisk]  # It holds the data directory; null where the database is another server’s

class ApiKey(WhoAmIKey):
    created_at: str
    created_by: Optional[str]  # The member or key that made it; null: the command line
    last_used_at: Optional[str]
    revoked_at: Optional[str]

class ApiKeyPage(Page["ApiKey"]):
    """A page of ApiKey."""

class CreatedApiKey(ApiKey):
    key: str  # The key itself: shown once

class Member(TeamOverviewMember):
    aliases: List[str]  # Other addresses of the member
    last_signed_in_at: Optional[str]
    status: Literal["active", "invited"]  # `invited`: an invitation is open that the member has not accepted

class MemberPage(Page["Member"]):
    """A page of Member."""

class Invitation(Model):
    url: str  # The link by which the member sets a password, once; shown in this answer only
    expires_at: str

class InvitationsData(Model):
    id: str
    email: str
    url: str  # The link for this member; shown in this answer only
    expires_at: str

class Invitations(Model):
    data: List[InvitationsData]  # In the order of the request

class PendingRetention(Model):
    """A shorter retention that waits: it holds from `at` on, and would delete so many sessions."""
    days: int
    sessions: int
    at: str

class OrganizationSettingsTimeZonePending(Model):
    """A time zone that will be in force when all days are computed anew."""
    time_zone: str  # A name of IANA: days, weeks and months are those of the zone
    at: str  # When it was asked for: UTC, milliseconds

class BadgeSettingsLabels(Model):
    quality: str
    security: str
    cost: str

class BadgeSettingsColors(Model):
    good: str
    medium: str
    bad: str

class BadgeSettingsThresholds(Model):
    good: float
    medium: float

class BadgeSettings(Model):
    visibility: Literal["public", "private"]
    token: Optional[bool]
    labels: BadgeSettingsLabels
    colors: BadgeSettingsColors
    thresholds: BadgeSettingsThresholds

class OrganizationSettings(WhoAmIOrganization):
    hide_members: bool  # Members are shown to keys with the scope team:read only
    member_visibility: Literal["all", "own"]  # `own`: developers see only their own sessions and figures
    retention_sessions_days: Optional[int]  # Sessions are deleted after so many days; null: they are kept for ever
    retention_pending: Optional[PendingRetention]  # A shorter retention that waits: it holds from `at` on, and would delete so many sessions
    time_zone_pending: Optional[OrganizationSettingsTimeZonePending]  # A time zone that will be in force when all days are computed anew
    badges: BadgeSettings
    ticket_pattern: str
    ticket_ignore: List[str]
    budget_action: Literal["warn", "block"]  # The hook on laptops warns beyond a budget, or refuses prompts
    github_secret_set: bool  # Whether the secret of GitHub’s webhook is set

class BadgeToken(Model):
    token: str  # Shown once; it replaces the token before

class ScopedBudget(Model):
    month: str  # YYYY-MM; in force until a later month has one of the same scope
    limit: float  # US dollars
    scope: BudgetScope
    used: Optional[ScopedBudgetUsed]  # With `include=used`: what the month cost, and this month will; null for a limit that is not in force then, or whose cost the caller may not see; absent where there is none

class ScopedBudgetPage(Page["ScopedBudget"]):
    """A page of ScopedBudget."""

class MyBudgets(Model):
    action: Literal["warn", "block"]  # What happens beyond a limit
    budgets: List[MyBudgetsBudget]  # Of the organization, the member, their team and the project, where they have one

class BudgetLimit(Model):
    limit: float

class MonthBudget(Model):
    month: str  # YYYY-MM; in force until a later month has one of the same scope
    limit: float  # US dollars

class Plan(Model):
    id: str
    vendor: Vendor  # Who is paid
    plan: str
    member: Optional[str]  # An id; null: seats of everybody without a plan of the vendor, or not shown
    quantity: int  # Seats
    # ["from"]: str
    to: Optional[str]  # Last day, inclusive; null: until further notice
    price_month: float  # Of one seat and month, in `currency`
    currency: str  # A code of ISO 4217
    usd_rate: Optional[float]  # US dollars for one unit of the currency; required where it is not USD
    included_credits: Optional[float]  # Credits of one seat and month

class PlanPage(Page["Plan"]):
    """A page of Plan."""

class SeatLimit(Model):
    limit: str
    scope: Optional[str]  # The family of models that it is for; null: all
    peak_percent: float
    windows: int  # Windows of the range of which something is known
    hits: int  # Those in which the agent was refused
    hours_blocked: float  # From the first hit of each window to its end, or the next call that succeeded
    overage: bool  # Whether work went on beyond the limit at a price
    current: Optional[float]  # Percent of the window that is not over

class SeatPool(Model):
    """The credits of all seats of the vendor’s plan."""
    credits: float
    used: Optional[float]  # Known for GitHub
    percent: Optional[float]

class Seat(Model):
    member: Optional[str]  # An id; null: seats of everybody without a plan of the vendor, or not shown
    vendor: Vendor  # Who is paid
    plan: Optional[str]  # null: calls that a plan paid of which none is known
    quantity: int
    # ["from"]: Optional[str]
    to: Optional[str]  # Last day, inclusive; null: until further notice
    paid: float  # US dollars for the days in force of the range
    cost: float  # What the calls that the plan paid would have cost by the price list; never added to `paid`
    ratio: Optional[float]  # cost ÷ paid
    sessions: int  # Of this vendor, that began in the range
    active_days: int  # Days with a call of this vendor
    last_active_day: Optional[str]
    limits: List[SeatLimit]
    pool: Optional[SeatPool]  # The credits of all seats of the vendor’s plan
    verdict: Optional[SeatVerdict]

class SeatTotal(Model):
    """It counts the seats of all pages."""
    seats: int  # Quantities of all seats
    paid: float
    cost: float
    idle: int  # Seats of this verdict
    low: int  # Likewise
    limited: int  # Likewise

class SeatPage(Page["Seat"]):
    currency: Literal["USD"]
    total: SeatTotal

class MySeatsPlan(Model):
    vendor: Vendor  # Who is paid
    plan: str
    # ["from"]: str
    to: Optional[str]  # Last day, inclusive; null: until further notice

class MySeats(Model):
    plans: List[MySeatsPlan]
    windows: List[AttentionWindow]  # Those that are not over

class AlertPage(Page["Alert"]):
    """A page of Alert."""

class NotificationTestResult(Model):
    type: Literal["webhook", "slack", "teams"]  # webhook: every endpoint that subscribes to the event
    success: bool  # The receiver answered with 2xx
    status_code: Optional[int]  # null: no answer
    error: Optional[str]

class NotificationTest(Model):
    results: List[NotificationTestResult]  # Of each receiver

class NotificationDelivery(Delivery):
    test: bool  # Whether it was only a test

class NotificationDeliveryPage(Page["NotificationDelivery"]):
    """A page of NotificationDelivery."""

class NotificationDeliveryDetailRequest(Model):
    body: str  # What is sent, to the byte

class NotificationDeliveryDetail(Model):
    id: str  # Also in the header X-Service-Delivery
    event: str
    event_id: str  # Also in the header webhook-id
    status: DeliveryStatus  # pending: to be sent; pending_retry: failed, and sent again later; failed: given up; cancelled: its endpoint is gone
    attempts: List[Attempt]  # Those that have ended, from the first
    next_attempt_at: Optional[str]  # When it is sent next; null: it is finished, or an attempt is in flight
    last_status_code: Optional[int]  # Of the latest attempt; null: no answer
    created_at: str  # When the event happened
    completed_at: Optional[str]  # When it was finished
    request: NotificationDeliveryDetailRequest
    test: bool  # Whether it was only a test

class Digest(Model):
    id: str
    name: str
    weekday: DigestWeekday  # Of the time zone; monday unless given
    hour: int  # Of the time zone; 8 unless given
    destinations: List[Destination]
    enabled: bool
    last_sent_at: Optional[str]  # When it was last sent; null: never

class DigestPage(Page["Digest"]):
    """A page of Digest."""

class SessionCompletedEventData(Model):
    session_id: str  # The session, as in `GET /v1/sessions/{id}`
    project_name: Optional[str]
    quality_score: float  # 0 to 100, at most 2 decimals

class QualityScoreChangedEventData(Model):
    session_id: str  # The session, as in `GET /v1/sessions/{id}`
    old_score: float  # The score that was stored
    new_score: float  # The score that is stored now

class SecurityAlertEventData(Model):
    alert_id: str  # The finding's id in its session
    severity: Literal["critical", "high"]
    title: str

class CostBudgetExceededEventData(Model):
    budget_id: str  # The budget record in force
    current_cost: float  # The month's cost in US dollars, at most 6 decimals
    limit: float  # The monthly limit in US dollars, at most 6 decimals

class TeamMemberJoinedEventData(Model):
    user_id: str
    email: str
    role: Role

class ComplianceReportReadyEventData(Model):
    report_id: str
    report_type: ReportType
    date_range: ExplanationAgainst  # UTC days, both inclusive

class AlertFiredEventDataTop(Model):
    key: Optional[str]  # A project, member or model
    value: float

class AlertFiredEventData(Model):
    alert_id: str
    name: str
    state: Literal["ok", "firing", "no_data"]
    metric: str
    value: Optional[float]  # Null: there is no data
    threshold: float  # What the value is compared with
    window: Literal["day", "week", "month"]
    key: Optional[str]  # The project, member or team that it is about; null without `each`, and for what has none
    top: List[AlertFiredEventDataTop]  # The three largest contributors
    test: bool  # absent where there is none

class AlertResolvedEventData(Model):
    alert_id: str
    name: str
    state: Literal["ok", "firing", "no_data"]
    metric: str
    value: Optional[float]  # Null: there is no data
    threshold: float  # What the value is compared with
    window: Literal["day", "week", "month"]
    key: Optional[str]  # The project, member or team that it is about; null without `each`, and for what has none
    top: List[AlertFiredEventDataTop]  # The three largest contributors
    test: bool  # absent where there is none

class DigestReadyEventDataByModel(Model):
    key: Optional[str]  # null: none
    cost: float  # In US dollars

class DigestReadyEventDataBudget(Model):
    limit: float  # Of the month
    projected_cost: float  # At the month's end

class DigestReadyEventDataPullRequests(Model):
    merged: int
    cost: float  # Of the sessions that belong to them

class DigestReadyEventDataEffect(Model):
    id: str
    name: str
    verdict: str
    effect: float

class DigestReadyEventData(Model):
    digest_id: str
    # ["from"]: str
    to: str  # Days of the organization’s time zone, both inclusive
    cost: float  # Of these days
    previous_cost: float  # Of the seven days before
    by_model: List[DigestReadyEventDataByModel]
    by_project: List[DigestReadyEventDataByModel]
    budget: Optional[DigestReadyEventDataBudget]
    pull_requests: DigestReadyEventDataPullRequests
    average_quality: Optional[float]  # Null: no sessions
    new_findings: int  # Findings of these days that were in no session before
    effects: List[DigestReadyEventDataEffect]  # Changes whose verdict has become `seen` or `moved` in these days
    test: bool  # absent where there is none

class WebhookTestEventData(Model):
    webhook_id: str  # The endpoint that was tested
    test: bool
    message: str

class WebhookEvent(Model):
    """What a webhook delivery says; `event` tells which `data` it has."""
    id: str  # the same at every attempt and redelivery
    event: str
    type: str  # the same as event
    timestamp: str  # when it happened: UTC, milliseconds
    api_version: str
    data: Union[
        SessionCompletedEventData, QualityScoreChangedEventData, SecurityAlertEventData,
        CostBudgetExceededEventData, TeamMemberJoinedEventData, ComplianceReportReadyEventData,
        AlertFiredEventData, AlertResolvedEventData, DigestReadyEventData, WebhookTestEventData
    ]
