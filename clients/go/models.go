package cloudanalytics

// Made of the API's document by `bun run clients`; do not edit.

const version = "0.3.0-dev"

type PullRequest struct {
	Repo   string `json:"repo"`
	Number int64  `json:"number"`
}
type SessionRecordTokens struct {
	Input           *int64 `json:"input,omitempty"`
	Output          *int64 `json:"output,omitempty"`
	CacheRead       *int64 `json:"cache_read,omitempty"`
	CacheCreation   *int64 `json:"cache_creation,omitempty"`
	CacheCreation1h *int64 `json:"cache_creation_1h,omitempty"` // the part of cache_creation that is kept for an hour; left out where there is none
}
type SessionRecordToolsUsed struct {
	Name   string `json:"name"`
	Calls  *int64 `json:"calls,omitempty"`
	Errors *int64 `json:"errors,omitempty"`
}

// SessionRecordSurvival: Of the agents’ lines in its landed commits, how much was there 14 and 30 days later.
type SessionRecordSurvival struct {
	Days14 *float64 `json:"14"`
	Days30 *float64 `json:"30"`
}
type SessionRecord struct {
	ID               string                   `json:"id"`
	ProjectName      string                   `json:"project_name,omitempty"`
	Origin           string                   `json:"origin,omitempty"`
	Includes         []string                 `json:"includes,omitempty"` // the sessions of its sub-agents: telemetry of theirs belongs to this session
	CreatedAt        string                   `json:"created_at"`
	UserID           string                   `json:"user_id,omitempty"`
	UserEmail        string                   `json:"user_email,omitempty"`
	Source           string                   `json:"source,omitempty"`
	Branch           string                   `json:"branch,omitempty"`
	PullRequests     []PullRequest            `json:"pull_requests,omitempty"`
	Model            string                   `json:"model,omitempty"`
	Models           []string                 `json:"models,omitempty"`
	StartedAt        string                   `json:"started_at,omitempty"`
	EndedAt          string                   `json:"ended_at,omitempty"`
	DurationSeconds  *float64                 `json:"duration_seconds,omitempty"`
	Turns            *int64                   `json:"turns,omitempty"`
	EstimatedCost    *float64                 `json:"estimated_cost,omitempty"`
	CostSource       string                   `json:"cost_source,omitempty"`
	UnpricedTokens   *int64                   `json:"unpriced_tokens,omitempty"` // tokens of all kinds whose price is not known: they add nothing to estimated_cost
	StatedCost       *float64                 `json:"stated_cost,omitempty"`     // US dollars that the agent states for the whole session, at its own prices; the cost is that of the tokens, wherever they have a price
	Version          string                   `json:"version,omitempty"`         // Of the agent
	Effort           string                   `json:"effort,omitempty"`          // How much the model was asked to think
	Vendor           string                   `json:"vendor,omitempty"`
	PaidBy           string                   `json:"paid_by,omitempty"`
	QualityScore     *float64                 `json:"quality_score,omitempty"`
	Tokens           *SessionRecordTokens     `json:"tokens,omitempty"`
	ToolsUsed        []SessionRecordToolsUsed `json:"tools_used,omitempty"`
	FilesTouched     []string                 `json:"files_touched,omitempty"`
	Summary          string                   `json:"summary,omitempty"`
	TurnRecords      []map[string]any         `json:"turn_records,omitempty"`
	Observations     []map[string]any         `json:"observations,omitempty"`
	Analysis         map[string]any           `json:"analysis,omitempty"`
	QualityMetadata  map[string]any           `json:"quality_metadata,omitempty"`
	SecurityMetadata map[string]any           `json:"security_metadata,omitempty"`
	Landed           *bool                    `json:"landed,omitempty"`   // Whether the default branch has a commit of it; null where none is known
	Reverted         *bool                    `json:"reverted,omitempty"` // Whether a later commit that reverts one of them names it
	Survival         *SessionRecordSurvival   `json:"survival,omitempty"` // Of the agents’ lines in its landed commits, how much was there 14 and 30 days later
	Parts            string                   `json:"parts,omitempty"`    // what `sync` read of the session, by the ids of its messages: parts of the same session from other files are merged with it. Opaque to other clients
}

func (SessionRecord) recordType() string { return "session" }

type MemberRecord struct {
	Email       string   `json:"email"`
	DisplayName string   `json:"display_name"`
	Role        string   `json:"role"`
	JoinedAt    string   `json:"joined_at"`
	Team        string   `json:"team,omitempty"`    // Null for none. Without this field the one that is stored stays
	Aliases     []string `json:"aliases,omitempty"` // Other addresses of the member, all of them; [] for none. Without this field those that are stored stay
	ID          string   `json:"id,omitempty"`
}

func (MemberRecord) recordType() string { return "member" }

type CommitRecordFile struct {
	Path         string `json:"path"`
	Additions    int64  `json:"additions"`
	Deletions    int64  `json:"deletions"`
	Status       string `json:"status"`
	PreviousPath string `json:"previous_path,omitempty"`
}
type CommitRecordAi struct {
	Lines          int64            `json:"lines"`
	EffectiveLines int64            `json:"effective_lines"`
	ByAgent        map[string]int64 `json:"by_agent"`
	Provenance     string           `json:"provenance"`
	Sessions       []string         `json:"sessions"`
}
type CommitRecordSurvival struct {
	Days  float64 `json:"days"`
	Lines int64   `json:"lines"`
}
type CommitRecord struct {
	Project         string                 `json:"project"`
	Sha             string                 `json:"sha"`
	AuthorEmail     string                 `json:"author_email"`
	AuthorName      string                 `json:"author_name"`
	CommittedAt     string                 `json:"committed_at"`
	Subject         string                 `json:"subject,omitempty"`
	Files           []CommitRecordFile     `json:"files"`
	Ai              *CommitRecordAi        `json:"ai,omitempty"`
	Survival        []CommitRecordSurvival `json:"survival,omitempty"`
	OnDefaultBranch *bool                  `json:"on_default_branch,omitempty"`
}

func (CommitRecord) recordType() string { return "commit" }

type PrRiskRecordContributionsImpact struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`  // what was measured
	Points float64 `json:"points"` // what it adds to the part
}
type PrRiskRecordContributions struct {
	Impact     []PrRiskRecordContributionsImpact `json:"impact"`     // hotspot, spread, entropy, single_owner
	Regression []PrRiskRecordContributionsImpact `json:"regression"` // measures of the change, and `base`: a change of nothing
	Security   []PrRiskRecordContributionsImpact `json:"security"`   // open findings in the files by severity, and kinds of sensitive files
	Coupling   []PrRiskRecordContributionsImpact `json:"coupling"`   // files that usually change with these and are missing, by how surely they do
}
type PrRiskRecord struct {
	Repo            string                     `json:"repo"`
	PrNumber        int64                      `json:"pr_number"`
	PrTitle         string                     `json:"pr_title"`
	FilesChanged    int64                      `json:"files_changed"`
	CreatedAt       string                     `json:"created_at"`
	ID              string                     `json:"id,omitempty"`
	ImpactScore     *float64                   `json:"impact_score,omitempty"`
	RegressionScore *float64                   `json:"regression_score,omitempty"`
	SecurityScore   *float64                   `json:"security_score,omitempty"`
	CouplingScore   *float64                   `json:"coupling_score,omitempty"`
	Contributions   *PrRiskRecordContributions `json:"contributions,omitempty"`
	Project         string                     `json:"project,omitempty"`
	AuthorEmail     string                     `json:"author_email,omitempty"`
	Files           []CommitRecordFile         `json:"files,omitempty"`
	Branch          string                     `json:"branch,omitempty"`
	Commits         []string                   `json:"commits,omitempty"`
	State           string                     `json:"state,omitempty"`
	MergedAt        string                     `json:"merged_at,omitempty"`
	ClosedAt        string                     `json:"closed_at,omitempty"`
	MergeCommit     string                     `json:"merge_commit,omitempty"`
	URL             string                     `json:"url,omitempty"`
	DefaultBranch   string                     `json:"default_branch,omitempty"`
	RiskScore       any                        `json:"risk_score,omitempty"` // Not read: it is always computed here
	Rating          any                        `json:"rating,omitempty"`     // Not read: it is always computed here
}

func (PrRiskRecord) recordType() string { return "pr_risk" }

type AuditRecord struct {
	Action    string         `json:"action"`
	UserID    string         `json:"user_id"`
	CreatedAt string         `json:"created_at"` // Microseconds are kept; moved on by microseconds where another entry has the same
	ID        string         `json:"id,omitempty"`
	Details   map[string]any `json:"details,omitempty"` // At most 16 KiB as JSON
	IPAddress string         `json:"ip_address,omitempty"`
}

func (AuditRecord) recordType() string { return "audit" }

type BudgetRecord struct {
	Month   string  `json:"month"` // YYYY-MM; in force until a later month has a record of the same scope
	Limit   float64 `json:"limit"`
	Project string  `json:"project,omitempty"`
	Member  string  `json:"member,omitempty"` // An id, or an address in any case
	Team    string  `json:"team,omitempty"`
}

func (BudgetRecord) recordType() string { return "budget" }

type ReportRecord struct {
	ReportType  string `json:"report_type"`
	From        string `json:"from"` // First UTC day, inclusive
	To          string `json:"to"`   // Last UTC day, inclusive
	ID          string `json:"id,omitempty"`
	GeneratedAt string `json:"generated_at,omitempty"` // When it was made, as export gives it; now unless given
	Through     string `json:"through,omitempty"`      // Last entry it may count, as export gives it; the newest unless given
}

func (ReportRecord) recordType() string { return "report" }

type NoteRecord struct {
	ID      string `json:"id"`
	Day     string `json:"day"` // A day of the organization’s zone
	Text    string `json:"text"`
	Project string `json:"project,omitempty"`
	Team    string `json:"team,omitempty"`
}

func (NoteRecord) recordType() string { return "note" }

type NewPlan struct {
	Vendor          string   `json:"vendor"`
	Plan            string   `json:"plan"`
	Member          *string  `json:"member"`           // An id, or an address in any case; without it the seats are of everybody without a plan
	From            string   `json:"from"`             // First day
	To              *string  `json:"to"`               // Last day, inclusive
	PriceMonth      float64  `json:"price_month"`      // Of one seat and month, in `currency`
	Quantity        *int64   `json:"quantity"`         // Seats
	Currency        *string  `json:"currency"`         // A code of ISO 4217
	UsdRate         *float64 `json:"usd_rate"`         // US dollars for one unit of the currency; required where it is not USD
	IncludedCredits *float64 `json:"included_credits"` // Credits of one seat and month
}
type PlanRecord struct {
	NewPlan
	ID string `json:"id,omitempty"`
}

func (PlanRecord) recordType() string { return "plan" }

type LimitWindow struct {
	Limit       string  `json:"limit"` // `five_hour`, `week`, `month`, `credits`, `spend`, or the agent’s own name
	Scope       string  `json:"scope,omitempty"`
	UsedPercent float64 `json:"used_percent"`
	ResetsAt    string  `json:"resets_at,omitempty"`
	Hit         bool    `json:"hit"`               // Whether the agent was refused
	Overage     *bool   `json:"overage,omitempty"` // Whether work went on beyond the limit at a price
}
type LimitRecord struct {
	Vendor    string        `json:"vendor"`
	Agent     string        `json:"agent"`
	Account   string        `json:"account,omitempty"` // The first 16 hexadecimal digits of SHA-256 of the organization’s id followed by that of the account
	Plan      string        `json:"plan,omitempty"`
	At        string        `json:"at"`
	Windows   []LimitWindow `json:"windows"`
	UserEmail string        `json:"user_email,omitempty"`
}

func (LimitRecord) recordType() string { return "limit" }

type EffectRecord struct {
	ID        string   `json:"id"`
	Source    string   `json:"source"`
	Name      string   `json:"name,omitempty"`
	Dismissed bool     `json:"dismissed"`
	Kind      string   `json:"kind,omitempty"`
	Unit      string   `json:"unit"`
	FromDay   string   `json:"from_day,omitempty"`
	ToDay     string   `json:"to_day,omitempty"`
	Members   []string `json:"members,omitempty"`
	Projects  []string `json:"projects,omitempty"`
	Team      string   `json:"team,omitempty"`
}

func (EffectRecord) recordType() string { return "effect" }

type SyncParams struct {
	Machine  string `json:"machine,omitempty"`  // The name of the machine that sends: 1 to 255 printable ASCII characters, no comma. GET /v1/team/machines shows when each was seen
	Reassign *bool  `json:"reassign,omitempty"` // Whether a session may get another user than the one it has; without a user it keeps the one it has
	Restore  *bool  `json:"restore,omitempty"`  // Whether sessions that were deleted are stored again, for which the key needs `write`; without it they are left out
	Moved    *bool  `json:"moved,omitempty"`    // Whether the response says how many of the updated sessions had another project
}
type SkippedSession struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}
type MovedSessions struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Sessions int64  `json:"sessions"`
}
type SyncResult struct {
	Received  int64            `json:"received"`
	Created   int64            `json:"created"`   // not known before
	Updated   int64            `json:"updated"`   // known, and now different
	Unchanged int64            `json:"unchanged"` // known as they are, or skipped
	Skipped   []SkippedSession `json:"skipped"`   // Sessions that were not stored: they were deleted, or are older than the organization keeps. Absent where there are none
	Moved     []MovedSessions  `json:"moved"`     // With `moved=true`: how many of the updated sessions had another project. Absent where there are none
}
type WhoAmIOrganization struct {
	ID       string `json:"id"`
	Slug     string `json:"slug"`
	Name     string `json:"name"`
	Plan     string `json:"plan"`
	TimeZone string `json:"time_zone"` // A name of IANA: days, weeks and months are those of the zone
}

// WhoAmIKeyMember: Whose sessions the key sends.
type WhoAmIKeyMember struct {
	ID    *string `json:"id"` // null while no member has the address
	Email string  `json:"email"`
}

// WhoAmIKey: null for a person who signed in.
type WhoAmIKey struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Scopes    []string         `json:"scopes"`
	ExpiresAt *string          `json:"expires_at"`
	Member    *WhoAmIKeyMember `json:"member"` // Whose sessions the key sends
}

// WhoAmIMember: The person, or whose sessions the key sends.
type WhoAmIMember struct {
	ID          string `json:"id"`
	Email       string `json:"email"`
	DisplayName string `json:"display_name"`
	Role        string `json:"role"`
}

// WhoAmILimits: Of the organization, shared by its keys.
type WhoAmILimits struct {
	Read int64 `json:"read"` // Requests a minute
	Sync int64 `json:"sync"` // Requests of POST /v1/sync a minute
}
type WhoAmI struct {
	Organization WhoAmIOrganization `json:"organization"`
	Key          *WhoAmIKey         `json:"key"`    // null for a person who signed in
	Member       *WhoAmIMember      `json:"member"` // The person, or whose sessions the key sends
	Scopes       []string           `json:"scopes"`
	CsrfToken    string             `json:"csrf_token"` // Of a person: X-CSRF-Token of requests that change something
	Limits       WhoAmILimits       `json:"limits"`     // Of the organization, shared by its keys
}

// AlertScope: Whose figures; {}: those of the organization.
type AlertScope struct {
	Project string `json:"project"`
	Member  string `json:"member"` // An id, or an address in any case; it is shown as the id
	Team    string `json:"team"`
	Model   string `json:"model"`
	Agent   string `json:"agent"`
}
type Destination struct {
	Type string `json:"type"` // webhook: every endpoint that subscribes to the event
	URL  string `json:"url"`  // Of Slack and Teams: only its last 4 characters
}
type AlertKey struct {
	Key       *string  `json:"key"`        // null: without one
	State     string   `json:"state"`      // With `each`: firing if one of the keys is
	Since     string   `json:"since"`      // Since when it has this state
	LastValue *float64 `json:"last_value"` // At the last look; null: no data
}
type Alert struct {
	ID              string        `json:"id"`
	Name            string        `json:"name"`
	Metric          string        `json:"metric"`
	Scope           AlertScope    `json:"scope"` // Whose figures; {}: those of the organization
	Each            *string       `json:"each"`
	Window          string        `json:"window"`           // The day, week (from Monday) or month of the time zone that is now
	Above           *float64      `json:"above"`            // Fires above it; one of `above`, `below` and `times` is there
	Below           *float64      `json:"below"`            // Fires below it
	Times           *float64      `json:"times"`            // Fires above this many times the median of the 14 windows before
	NoData          string        `json:"no_data"`          // What happens where the figure has no value
	RenotifyMinutes *int64        `json:"renotify_minutes"` // Tells again after this time; null: once
	Enabled         bool          `json:"enabled"`
	Destinations    []Destination `json:"destinations"`
	State           string        `json:"state"`      // With `each`: firing if one of the keys is
	Since           string        `json:"since"`      // Since when it has this state
	LastValue       *float64      `json:"last_value"` // At the last look; null: no data
	Keys            []AlertKey    `json:"keys"`       // With `each`, of one alert: the states of its keys, those that fire first
}

// BudgetScope: One of them, or none for the organization.
type BudgetScope struct {
	Project string `json:"project"`
	Member  string `json:"member"` // An id
	Team    string `json:"team"`
}
type MyBudgetsBudget struct {
	Scope       BudgetScope `json:"scope"`
	Limit       float64     `json:"limit"`        // US dollars
	CurrentCost float64     `json:"current_cost"` // US dollars of the month
	PercentUsed float64     `json:"percent_used"`
	Status      string      `json:"status"` // `warning`: from 80 percent on
}
type NamedBudget struct {
	MyBudgetsBudget
	Name string `json:"name"` // Of the project, member or team; empty for the organization
}
type AttentionWindow struct {
	Vendor      string  `json:"vendor"` // Who is paid
	Limit       string  `json:"limit"`
	Scope       *string `json:"scope"` // The family of models that it is for; null: all
	UsedPercent float64 `json:"used_percent"`
	ResetsAt    *string `json:"resets_at"`
	Hit         bool    `json:"hit"`
}
type WebhookHealth struct {
	ConsecutiveFailures int64   `json:"consecutive_failures"` // Since the last success
	LastSuccessAt       *string `json:"last_success_at"`      // When an attempt was last answered with 2xx
	LastFailureAt       *string `json:"last_failure_at"`      // When an attempt last failed
	LastStatusCode      *int64  `json:"last_status_code"`     // Of the latest attempt; null: no answer
}
type WebhookEndpoint struct {
	ID          string        `json:"id"`      // Id of the endpoint
	URL         string        `json:"url"`     // Where deliveries are sent
	Events      []string      `json:"events"`  // Names of events, or `*` alone for all
	Enabled     bool          `json:"enabled"` // false: what waits is held, and new events pass by
	Description *string       `json:"description"`
	CreatedAt   string        `json:"created_at"`  // When it was made
	UpdatedAt   string        `json:"updated_at"`  // When it was last changed
	SecretHint  string        `json:"secret_hint"` // The last 4 characters of the signing secret
	Health      WebhookHealth `json:"health"`
}

// SessionMember: Whose session it is; null where that is not known, or not shown.
type SessionMember struct {
	ID    *string `json:"id"`
	Email *string `json:"email"`
}
type Finding struct {
	ID          string  `json:"id"`
	RuleID      string  `json:"rule_id"`
	Category    string  `json:"category"`
	Severity    string  `json:"severity"`
	Title       string  `json:"title"`
	Description *string `json:"description"`
	File        *string `json:"file"`
	Line        *int64  `json:"line"`
	TurnNumber  *int64  `json:"turn_number"`
	Fingerprint string  `json:"fingerprint"`
	Status      string  `json:"status"`
	Assignee    *string `json:"assignee"` // Id of the member who is to mend it
	Note        string  `json:"note"`     // What was decided and why, where somebody said so
	CreatedAt   string  `json:"created_at"`
}
type ListedFinding struct {
	Finding
	SessionID string         `json:"session_id"`
	Project   *string        `json:"project"`
	Member    *SessionMember `json:"member"` // Whose session it is; null where that is not known, or not shown
}

// AttentionCritical: Open critical findings; none without the scope `security:read`.
type AttentionCritical struct {
	Total  int64           `json:"total"`
	Oldest []ListedFinding `json:"oldest"` // At most three
}
type AttentionUnpriced struct {
	Model  *string `json:"model"`
	Tokens int64   `json:"tokens"`
}
type Machine struct {
	Member     *SessionMember `json:"member"`       // Whose sessions it sends; null where its requests had no user, or several
	Machine    string         `json:"machine"`      // as in X-Machine
	LastSeenAt string         `json:"last_seen_at"` // When it sent records, to the minute
	Sessions   int64          `json:"sessions"`     // sessions that were new when it sent them, deleted ones included
}

// AttentionBackup: Where it failed, is missing, or is older than 2 × BACKUP_EVERY (two days without); with the scope `admin`, of a server that has one organization.
type AttentionBackup struct {
	LastAt   *string `json:"last_at"`   // When the newest one began
	FailedAt *string `json:"failed_at"` // Since the last success
}
type Attention struct {
	Alerts         []Alert             `json:"alerts"`          // Those that fire, or miss data where they are to fire then
	Budgets        []NamedBudget       `json:"budgets"`         // Of projects, members and teams, exceeded this month; /cost has that of the organization
	Mine           []NamedBudget       `json:"mine"`            // Those of the organization, the member of the request and their team
	Windows        []AttentionWindow   `json:"windows"`         // Those that are not over
	Endpoints      []WebhookEndpoint   `json:"endpoints"`       // Those whose last attempt failed; with the scope `webhooks`
	Critical       AttentionCritical   `json:"critical"`        // Open critical findings; none without the scope `security:read`
	Unpriced       []AttentionUnpriced `json:"unpriced"`        // Models without a known price in the last 30 days, those with most tokens first
	SilentMachines []Machine           `json:"silent_machines"` // Those that sent sessions, and for 3 to 30 days nothing; none without the scope `team:read`
	Backup         *AttentionBackup    `json:"backup"`          // Where it failed, is missing, or is older than 2 × BACKUP_EVERY (two days without); with the scope `admin`, of a server that has one organization
	DaysMovedAt    *string             `json:"days_moved_at"`   // When cost moved from the first days of sessions to those of their calls; null where there was none before
}
type SessionsListParams struct {
	Page        int64    `json:"page,omitempty"`         // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage     int64    `json:"per_page,omitempty"`     // Items on a page
	Project     string   `json:"project,omitempty"`      // Only this project; empty: only what has none
	DateFrom    string   `json:"date_from,omitempty"`    // First day of the time zone, inclusive
	DateTo      string   `json:"date_to,omitempty"`      // Last day of the time zone, inclusive
	Member      string   `json:"member,omitempty"`       // Only sessions of this member: an id, or an address in any case
	Team        string   `json:"team,omitempty"`         // Only what members of this team did, which they are in now; empty: of members in none, and of nobody
	Model       string   `json:"model,omitempty"`        // Only sessions that used this model; a breakdown counts what they used of it
	Agent       string   `json:"agent,omitempty"`        // Only sessions of this coding agent: their `source`
	Branch      string   `json:"branch,omitempty"`       // Only sessions on this branch; empty: on none
	Ticket      string   `json:"ticket,omitempty"`       // Only sessions of this ticket, by `ticket_pattern`; empty: of none
	MinCost     *float64 `json:"min_cost,omitempty"`     // Only sessions that cost at least this, in US dollars
	MaxCost     *float64 `json:"max_cost,omitempty"`     // Only sessions that cost at most this, in US dollars
	MinQuality  *float64 `json:"min_quality,omitempty"`  // Only sessions with at least this quality score
	MaxQuality  *float64 `json:"max_quality,omitempty"`  // Only sessions with at most this quality score
	HasFindings *bool    `json:"has_findings,omitempty"` // Only sessions with, or without, security findings
	Sort        string   `json:"sort,omitempty"`         // What to sort by; ties are broken by id, in the same direction
	Order       string   `json:"order,omitempty"`        // Direction of the sort
	Include     string   `json:"include,omitempty"`      // `details`: each also with `member`, `agent`, `model`, `branch`, `ended_at` and `findings`
}
type Session struct {
	ID            string         `json:"id"`
	ProjectName   *string        `json:"project_name"`
	Turns         int64          `json:"turns"`
	EstimatedCost float64        `json:"estimated_cost"` // US dollars, at most 6 decimals; 0 where nothing is known
	QualityScore  float64        `json:"quality_score"`  // How smoothly it went (errors, rework, interruptions), no measure of its code; 0 to 100, high is good
	CreatedAt     string         `json:"created_at"`     // When the session began
	Member        *SessionMember `json:"member"`         // With `include=details`: whose it is; null where that is not known, or not shown
	Agent         *string        `json:"agent"`          // With `include=details`
	Model         *string        `json:"model"`          // With `include=details`
	Branch        *string        `json:"branch"`         // With `include=details`
	EndedAt       *string        `json:"ended_at"`       // With `include=details`
	Findings      *int64         `json:"findings"`       // With `include=details`: number of its open findings
}
type Pagination struct {
	Page    int64 `json:"page"`
	PerPage int64 `json:"per_page"`
	Total   int64 `json:"total"` // Items on all pages, exactly
}
type SessionPage = Page[Session]
type SessionTokens struct {
	Input           *int64 `json:"input"`
	Output          *int64 `json:"output"`
	CacheRead       *int64 `json:"cache_read"`
	CacheCreation   *int64 `json:"cache_creation"`
	CacheCreation1h *int64 `json:"cache_creation_1h"` // the part of cache_creation that is kept for an hour; left out where there is none
}
type SessionDetailToolsUsed struct {
	Name   string `json:"name"`
	Calls  int64  `json:"calls"`
	Errors int64  `json:"errors"`
}
type Tokens struct {
	Input           int64  `json:"input"`  // without what was read from the cache
	Output          int64  `json:"output"` // reasoning included, as it is billed
	CacheRead       int64  `json:"cache_read"`
	CacheCreation   int64  `json:"cache_creation"`
	CacheCreation1h *int64 `json:"cache_creation_1h"` // the part of cache_creation that is kept for an hour; left out where there is none
}
type ToolCall struct {
	Name string `json:"name"`
	Ok   *bool  `json:"ok"`
}
type Turn struct {
	TurnNumber int64      `json:"turn_number"`
	Role       string     `json:"role"`
	Model      *string    `json:"model"`
	Tier       string     `json:"tier"`    // Only where the price is not the list price
	Version    string     `json:"version"` // Of the agent
	Effort     string     `json:"effort"`  // How much the model was asked to think
	Vendor     string     `json:"vendor"`  // Who is paid for the call
	PaidBy     string     `json:"paid_by"`
	Skill      string     `json:"skill"`      // That the call was made for
	Subagent   string     `json:"subagent"`   // The type of the sub-agent that made it
	McpServer  string     `json:"mcp_server"` // Whose tool led to the call
	Plugin     string     `json:"plugin"`     // That skill, sub-agent or server is of
	StartedAt  *string    `json:"started_at"`
	Tokens     *Tokens    `json:"tokens"`
	Cost       *float64   `json:"cost"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	Content    string     `json:"content"` // Only where the operator stores content
}
type Observation struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	Title      string  `json:"title"`
	Content    *string `json:"content"`
	Importance int64   `json:"importance"`
	FilePath   *string `json:"file_path"`
	TurnNumber *int64  `json:"turn_number"`
	CreatedAt  string  `json:"created_at"`
}
type SessionDetailAnalysis struct {
	Summary        *string  `json:"summary"`
	Issues         []string `json:"issues"`
	Classification *string  `json:"classification"`
}
type QualityFactor struct {
	Name     string  `json:"name"`
	Category string  `json:"category"`
	Count    float64 `json:"count"`  // what was counted or measured
	Weight   float64 `json:"weight"` // points at full strength
	Points   float64 `json:"points"` // what it adds to the score
}
type QualityMetadata struct {
	Score         float64            `json:"score"`
	Base          float64            `json:"base"` // base + the sum of points, within 0 and 100, is score
	Factors       []QualityFactor    `json:"factors"`
	Breakdown     map[string]float64 `json:"breakdown"` // points by category
	ScoredAt      string             `json:"scored_at"`
	PreviousScore *float64           `json:"previous_score"`
}
type SecurityMetadata struct {
	Score    float64   `json:"score"`
	Findings []Finding `json:"findings"`
}
type SessionDetail struct {
	ID               string                   `json:"id"`
	ProjectName      *string                  `json:"project_name"`
	Turns            int64                    `json:"turns"`
	EstimatedCost    float64                  `json:"estimated_cost"` // US dollars, at most 6 decimals; 0 where nothing is known
	QualityScore     float64                  `json:"quality_score"`  // How smoothly it went (errors, rework, interruptions), no measure of its code; 0 to 100, high is good
	CreatedAt        string                   `json:"created_at"`     // When the session began
	UserID           *string                  `json:"user_id"`
	UnpricedTokens   int64                    `json:"unpriced_tokens"` // tokens of all kinds whose price is not known: they add nothing to estimated_cost
	Landed           *bool                    `json:"landed"`          // Whether the default branch has a commit of it; null where none is known
	Reverted         *bool                    `json:"reverted"`        // Whether a later commit that reverts one of them names it
	Survival         SessionRecordSurvival    `json:"survival"`        // Of the agents’ lines in its landed commits, how much was there 14 and 30 days later
	Source           *string                  `json:"source"`
	Branch           *string                  `json:"branch"`
	PullRequests     []PullRequest            `json:"pull_requests"` // Left out where there is none
	Model            *string                  `json:"model"`
	Models           []string                 `json:"models"`
	StartedAt        *string                  `json:"started_at"`
	EndedAt          *string                  `json:"ended_at"`
	DurationSeconds  *float64                 `json:"duration_seconds"`
	Tokens           *SessionTokens           `json:"tokens"`
	Origin           string                   `json:"origin"`
	CostSource       string                   `json:"cost_source"`
	StatedCost       *float64                 `json:"stated_cost"` // US dollars that the agent states for the whole session, at its own prices; the cost is that of the tokens, wherever they have a price
	Version          *string                  `json:"version"`     // Of the agent
	Effort           *string                  `json:"effort"`      // How much the model was asked to think
	Vendor           *string                  `json:"vendor"`
	PaidBy           *string                  `json:"paid_by"`
	ToolsUsed        []SessionDetailToolsUsed `json:"tools_used"`
	FilesTouched     []string                 `json:"files_touched"`
	Summary          *string                  `json:"summary"`
	TurnRecords      []Turn                   `json:"turn_records"`
	Observations     []Observation            `json:"observations"`
	Analysis         SessionDetailAnalysis    `json:"analysis"`
	QualityMetadata  QualityMetadata          `json:"quality_metadata"`
	SecurityMetadata SecurityMetadata         `json:"security_metadata"`
}
type PageParams struct {
	Page    int64 `json:"page,omitempty"`     // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage int64 `json:"per_page,omitempty"` // Items on a page
}
type SessionName struct {
	Name          string `json:"name"`
	Sessions      int64  `json:"sessions"`        // A session counts under each of its models
	LastSessionAt string `json:"last_session_at"` // When the newest of them began
}
type SessionNamePage = Page[SessionName]
type RangeParams struct {
	Project  string `json:"project,omitempty"`   // Only this project; empty: only what has none
	DateFrom string `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
	Compare  string `json:"compare,omitempty"`   // Adds `previous`, the same of another range: `previous`, the equally long range before, which needs both dates, or days as `2026-10-01..2026-10-31`
}
type QualityOverviewScoresByDate struct {
	Date  string  `json:"date"`
	Score float64 `json:"score"` // mean of the day
}

// QualityOverviewPrevious: In the range of `compare`.
type QualityOverviewPrevious struct {
	AverageScore  float64 `json:"average_score"` // mean of all matching sessions, 0 without any
	TotalSessions int64   `json:"total_sessions"`
}
type QualityOverview struct {
	AverageScore  float64                       `json:"average_score"` // mean of all matching sessions, 0 without any
	TotalSessions int64                         `json:"total_sessions"`
	Trend         string                        `json:"trend"`          // the later half of the days with sessions against the earlier half; stable within 1 point
	ScoresByDate  []QualityOverviewScoresByDate `json:"scores_by_date"` // days with sessions, ascending
	Previous      *QualityOverviewPrevious      `json:"previous"`       // In the range of `compare`
}
type TrendParams struct {
	Granularity string `json:"granularity,omitempty"` // Length of a bucket
	Include     string `json:"include,omitempty"`     // `quartiles`: also those of each bucket
	Project     string `json:"project,omitempty"`     // Only this project; empty: only what has none
	DateFrom    string `json:"date_from,omitempty"`   // First day of the time zone, inclusive
	DateTo      string `json:"date_to,omitempty"`     // Last day of the time zone, inclusive
}
type QualityTrendData struct {
	Date          string   `json:"date"`  // the bucket's first day; weeks begin on Monday
	Score         float64  `json:"score"` // mean of the bucket
	Sessions      int64    `json:"sessions"`
	MinScore      float64  `json:"min_score"`      // lowest of the bucket
	MaxScore      float64  `json:"max_score"`      // highest of the bucket
	LowerQuartile *float64 `json:"lower_quartile"` // with `include=quartiles`: a quarter of the sessions has at most this
	UpperQuartile *float64 `json:"upper_quartile"` // three quarters have at most this
}
type QualityTrend struct {
	Granularity string             `json:"granularity"`
	Data        []QualityTrendData `json:"data"`
}
type CostGetParams struct {
	Project  string `json:"project,omitempty"`   // Only this project; empty: only what has none
	DateFrom string `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
	GroupBy  string `json:"group_by,omitempty"`  // Length of a period in by_period
	Compare  string `json:"compare,omitempty"`   // Adds `previous`, the same of another range: `previous`, the equally long range before, which needs both dates, or days as `2026-10-01..2026-10-31`
}
type CostSummaryByPeriod struct {
	Period string  `json:"period"` // first day of the period
	Cost   float64 `json:"cost"`   // of the period; US dollars
}
type CostSummaryByProject struct {
	Project *string `json:"project"`
	Cost    float64 `json:"cost"` // of the project, null: of none; US dollars
}

// ScopedBudgetUsed: With `include=used`: what the month cost, and this month will; null for a limit that is not in force then, or whose cost the caller may not see.
type ScopedBudgetUsed struct {
	CurrentCost         float64 `json:"current_cost"` // US dollars of the month
	PercentUsed         float64 `json:"percent_used"`
	Status              string  `json:"status"`         // `warning`: from 80 percent on
	ProjectedCost       float64 `json:"projected_cost"` // Of the month at its end
	ProjectedExceedDate *string `json:"projected_exceed_date"`
}
type Budget struct {
	ScopedBudgetUsed
	ID             string  `json:"id"`
	Scope          string  `json:"scope"` // `project`: of the project that is asked for, where it has one
	Period         string  `json:"period"`
	PeriodStart    string  `json:"period_start"`    // first day of the current month
	PeriodEnd      string  `json:"period_end"`      // its last day
	Limit          float64 `json:"limit"`           // for the month; US dollars
	Remaining      float64 `json:"remaining"`       // limit less what was spent, 0 when exceeded; US dollars
	AlertThreshold float64 `json:"alert_threshold"` // percent used from which the status is warning
	Currency       string  `json:"currency"`
}

// CostSummaryPrevious: In the range of `compare`.
type CostSummaryPrevious struct {
	TotalCost      float64 `json:"total_cost"`      // of all that was used in the range; US dollars
	UnpricedTokens int64   `json:"unpriced_tokens"` // tokens used in the range whose price is not known: total_cost is without them
}
type CostSummary struct {
	TotalCost      float64                `json:"total_cost"`      // of all that was used in the range; US dollars
	UnpricedTokens int64                  `json:"unpriced_tokens"` // tokens used in the range whose price is not known: total_cost is without them
	CurrentMonth   float64                `json:"current_month"`   // of the current month, date filters aside; US dollars
	Currency       string                 `json:"currency"`
	ByPeriod       []CostSummaryByPeriod  `json:"by_period"`
	ByProject      []CostSummaryByProject `json:"by_project"`
	CurrentBudget  *Budget                `json:"current_budget"`
	Previous       *CostSummaryPrevious   `json:"previous"` // In the range of `compare`
}
type CostBreakdownParams struct {
	By          string   `json:"by,omitempty"`           // What an item is of: of `version` (agent and version), `effort`, `skill`, `subagent`, `mcp_server`, `plugin`, `tier`, `vendor` and `paid_by` one at a time, as agents write them on calls; null is without. Sums answer in a time that does not grow with the number of sessions. The sessions that match are read with the filters `ticket`, `min_cost`, `max_cost`, `min_quality`, `max_quality` and `has_findings`; by ticket with member, agent, model or branch; by branch with agent or model; by project and member together with agent, model or branch; by one of those above with another key or filter than agent and time; and by two keys of days that make no whole months
	AndBy       string   `json:"and_by,omitempty"`       // A second key, other than `by`: an item for each pair
	Top         int64    `json:"top,omitempty"`          // Only so many values of `and_by`, which it needs: those that cost most in the whole range; the others are summed as `(others)`
	TopBy       string   `json:"top_by,omitempty"`       // What `top` goes by; `cost_and_change`: half of them cost most, and the others changed most against `compare`
	Compare     string   `json:"compare,omitempty"`      // Adds `previous`, cost and sessions of the same key in another range, with a key of time to the total alone: `previous`, the equally long range before, which needs both dates, or days as `2026-10-01..2026-10-31`
	Project     string   `json:"project,omitempty"`      // Only this project; empty: only what has none
	DateFrom    string   `json:"date_from,omitempty"`    // First day of the time zone, inclusive
	DateTo      string   `json:"date_to,omitempty"`      // Last day of the time zone, inclusive
	Member      string   `json:"member,omitempty"`       // Only sessions of this member: an id, or an address in any case
	Team        string   `json:"team,omitempty"`         // Only what members of this team did, which they are in now; empty: of members in none, and of nobody
	Model       string   `json:"model,omitempty"`        // Only sessions that used this model; a breakdown counts what they used of it
	Agent       string   `json:"agent,omitempty"`        // Only sessions of this coding agent: their `source`
	Branch      string   `json:"branch,omitempty"`       // Only sessions on this branch; empty: on none
	Ticket      string   `json:"ticket,omitempty"`       // Only sessions of this ticket, by `ticket_pattern`; empty: of none
	MinCost     *float64 `json:"min_cost,omitempty"`     // Only sessions that cost at least this, in US dollars
	MaxCost     *float64 `json:"max_cost,omitempty"`     // Only sessions that cost at most this, in US dollars
	MinQuality  *float64 `json:"min_quality,omitempty"`  // Only sessions with at least this quality score
	MaxQuality  *float64 `json:"max_quality,omitempty"`  // Only sessions with at most this quality score
	HasFindings *bool    `json:"has_findings,omitempty"` // Only sessions with, or without, security findings
	Version     string   `json:"version,omitempty"`      // Only calls of this agent and version; empty: without
	Effort      string   `json:"effort,omitempty"`       // Only calls of this effort; empty: without
	Skill       string   `json:"skill,omitempty"`        // Only calls of this skill; empty: without
	Subagent    string   `json:"subagent,omitempty"`     // Only calls of this type of sub-agent; empty: without
	McpServer   string   `json:"mcp_server,omitempty"`   // Only calls of this MCP server; empty: without
	Plugin      string   `json:"plugin,omitempty"`       // Only calls of this plugin; empty: without
	Tier        string   `json:"tier,omitempty"`         // Only calls in this tier of service, or with a long prompt
	Vendor      string   `json:"vendor,omitempty"`       // Only calls that this vendor is paid for; empty: of none
	PaidBy      string   `json:"paid_by,omitempty"`      // Only calls paid so, as recorded
	Sort        string   `json:"sort,omitempty"`         // What to sort by: `tokens` is the sum of the four kinds; `change` is the size of the change of cost, needs `compare`, and includes keys that only the other range has; ties are broken by key
	Order       string   `json:"order,omitempty"`        // Direction of the sort
	Page        int64    `json:"page,omitempty"`         // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage     int64    `json:"per_page,omitempty"`     // Items on a page
}
type BreakdownItemTokens struct {
	Input         int64 `json:"input"`
	Output        int64 `json:"output"`
	CacheRead     int64 `json:"cache_read"`
	CacheCreation int64 `json:"cache_creation"`
}

// BreakdownItemCostByKind: The cost by kind, which add up to it exactly; `other`: searches, and stated costs without tokens.
type BreakdownItemCostByKind struct {
	Input        float64 `json:"input"`
	Output       float64 `json:"output"`
	CacheRead    float64 `json:"cache_read"`
	CacheWrite5m float64 `json:"cache_write_5m"`
	CacheWrite1h float64 `json:"cache_write_1h"`
	Other        float64 `json:"other"`
}

// PreviousRange: In the range of `compare`.
type PreviousRange struct {
	Cost     float64 `json:"cost"`
	Sessions int64   `json:"sessions"`
}

// BreakdownTotal: It counts the items of all pages.
type BreakdownTotal struct {
	Sessions       int64                   `json:"sessions"` // That began in the range. One counts once under each of its models; in the total, once
	Turns          int64                   `json:"turns"`    // In the range, of sessions with the key
	Tokens         BreakdownItemTokens     `json:"tokens"`
	Cost           float64                 `json:"cost"`            // US dollars, exact to 6 decimals
	CostByKind     BreakdownItemCostByKind `json:"cost_by_kind"`    // The cost by kind, which add up to it exactly; `other`: searches, and stated costs without tokens
	Share          float64                 `json:"share"`           // Fraction of the total cost, rounded to 6 decimals; 0 where nothing costs
	UnpricedTokens int64                   `json:"unpriced_tokens"` // Tokens of models without a known price, of all four kinds; they cost nothing
	Previous       *PreviousRange          `json:"previous"`        // In the range of `compare`
}
type BreakdownItem struct {
	BreakdownTotal
	Key    *string `json:"key"`     // A name; a member’s id, or the address where no member has it; the first day of a day, week or month; null for sessions without a member, team, branch …, and calls without a version, skill …
	AndKey *string `json:"and_key"` // The second key; `(others)` for those beyond `top`
}
type Breakdown struct {
	Page[BreakdownItem]
	Total BreakdownTotal `json:"total"`
}
type CostExplainParams struct {
	By          string   `json:"by,omitempty"`           // What an item is of. Causes are found within each key and summed, so that those of the total depend on it
	Against     string   `json:"against,omitempty"`      // What the range is compared with: `previous`, as many days before; `year`, the same days a year before; or days as `2026-10-01..2026-10-31`
	Project     string   `json:"project,omitempty"`      // Only this project; empty: only what has none
	DateFrom    string   `json:"date_from,omitempty"`    // First day of the time zone, inclusive
	DateTo      string   `json:"date_to,omitempty"`      // Last day of the time zone, inclusive
	Member      string   `json:"member,omitempty"`       // Only sessions of this member: an id, or an address in any case
	Team        string   `json:"team,omitempty"`         // Only what members of this team did, which they are in now; empty: of members in none, and of nobody
	Model       string   `json:"model,omitempty"`        // Only sessions that used this model; a breakdown counts what they used of it
	Agent       string   `json:"agent,omitempty"`        // Only sessions of this coding agent: their `source`
	Branch      string   `json:"branch,omitempty"`       // Only sessions on this branch; empty: on none
	Ticket      string   `json:"ticket,omitempty"`       // Only sessions of this ticket, by `ticket_pattern`; empty: of none
	MinCost     *float64 `json:"min_cost,omitempty"`     // Only sessions that cost at least this, in US dollars
	MaxCost     *float64 `json:"max_cost,omitempty"`     // Only sessions that cost at most this, in US dollars
	MinQuality  *float64 `json:"min_quality,omitempty"`  // Only sessions with at least this quality score
	MaxQuality  *float64 `json:"max_quality,omitempty"`  // Only sessions with at most this quality score
	HasFindings *bool    `json:"has_findings,omitempty"` // Only sessions with, or without, security findings
	Version     string   `json:"version,omitempty"`      // Only calls of this agent and version; empty: without
	Effort      string   `json:"effort,omitempty"`       // Only calls of this effort; empty: without
	Skill       string   `json:"skill,omitempty"`        // Only calls of this skill; empty: without
	Subagent    string   `json:"subagent,omitempty"`     // Only calls of this type of sub-agent; empty: without
	McpServer   string   `json:"mcp_server,omitempty"`   // Only calls of this MCP server; empty: without
	Plugin      string   `json:"plugin,omitempty"`       // Only calls of this plugin; empty: without
	Tier        string   `json:"tier,omitempty"`         // Only calls in this tier of service, or with a long prompt
	Vendor      string   `json:"vendor,omitempty"`       // Only calls that this vendor is paid for; empty: of none
	PaidBy      string   `json:"paid_by,omitempty"`      // Only calls paid so, as recorded
	Page        int64    `json:"page,omitempty"`         // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage     int64    `json:"per_page,omitempty"`     // Items on a page
}
type ExplanationAgainst struct {
	From string `json:"from"`
	To   string `json:"to"`
}
type ChangePart struct {
	Cause  string   `json:"cause"`  // `undivided`: costs without tokens, and sessions without calls. `prompts` has the whole change of a key of which one range has no prompts, calls or tokens
	Amount float64  `json:"amount"` // US dollars, exact to 6 decimals
	Before *float64 `json:"before"` // What drives the cause: prompts, calls per prompt, tokens per call; to 6 decimals. null for `model_mix`, `price`, `undivided`, and where nothing is divided by
	After  *float64 `json:"after"`  // What drives the cause: prompts, calls per prompt, tokens per call; to 6 decimals. null for `model_mix`, `price`, `undivided`, and where nothing is divided by
}

// ExplainedKeyParts: They add up to the change of the key, and each of all keys to the part of the total.
type ExplainedKeyParts struct {
	Prompts           float64 `json:"prompts"`              // US dollars, exact to 6 decimals
	CallsPerPrompt    float64 `json:"calls_per_prompt"`     // US dollars, exact to 6 decimals
	ModelMix          float64 `json:"model_mix"`            // US dollars, exact to 6 decimals
	InputPerCall      float64 `json:"input_per_call"`       // US dollars, exact to 6 decimals
	OutputPerCall     float64 `json:"output_per_call"`      // US dollars, exact to 6 decimals
	CacheReadPerCall  float64 `json:"cache_read_per_call"`  // US dollars, exact to 6 decimals
	CacheWritePerCall float64 `json:"cache_write_per_call"` // US dollars, exact to 6 decimals
	Price             float64 `json:"price"`                // US dollars, exact to 6 decimals
	Undivided         float64 `json:"undivided"`            // US dollars, exact to 6 decimals
}
type ExplainedKey struct {
	Key    *string           `json:"key"`
	Before float64           `json:"before"` // US dollars, exact to 6 decimals
	After  float64           `json:"after"`  // US dollars, exact to 6 decimals
	Change float64           `json:"change"` // US dollars, exact to 6 decimals
	Parts  ExplainedKeyParts `json:"parts"`
}
type RangeFact struct {
	Day  string `json:"day"`
	Kind string `json:"kind"`
	Text string `json:"text"`
	Link string `json:"link"`
}
type Explanation struct {
	Page[ExplainedKey]
	From    string             `json:"from"`
	To      string             `json:"to"`
	Against ExplanationAgainst `json:"against"`
	Before  float64            `json:"before"` // US dollars, exact to 6 decimals
	After   float64            `json:"after"`  // US dollars, exact to 6 decimals
	Change  float64            `json:"change"` // US dollars, exact to 6 decimals
	Parts   []ChangePart       `json:"parts"`  // They add up to `change` exactly
	Facts   []RangeFact        `json:"facts"`  // What happened in the range: the organization’s first use ever of a version or model, a price that changed, a budget in force from that day or exceeded on it, a note
}
type CostFirstDaysParams struct {
	By string `json:"by,omitempty"` // What a key is of
}
type FirstDaysData struct {
	Key      string `json:"key"`       // As in the breakdown
	FirstDay string `json:"first_day"` // Of its first session
}
type FirstDays struct {
	Data []FirstDaysData `json:"data"` // By `first_day`, then key: what comes later changes no place before it; at most 1,000
}
type CostPriceGuessParams struct {
	Name string `json:"name,omitempty"` // Of a model, as sessions have it
}
type PriceGuess struct {
	Nearest *string `json:"nearest"` // The nearest model of the family; null: none, or the model has a price
	Line    *string `json:"line"`    // For the file of `MODEL_PRICES`, with blanks where nothing is known; null: the model has a price
}
type CostTrendParams struct {
	Granularity string `json:"granularity,omitempty"` // Length of a bucket
	Project     string `json:"project,omitempty"`     // Only this project; empty: only what has none
	DateFrom    string `json:"date_from,omitempty"`   // First day of the time zone, inclusive
	DateTo      string `json:"date_to,omitempty"`     // Last day of the time zone, inclusive
}
type CostTrendData struct {
	Period         string   `json:"period"` // first day of the bucket; weeks begin on Monday
	Cost           float64  `json:"cost"`   // of the bucket; US dollars
	Sessions       int64    `json:"sessions"`
	CumulativeCost float64  `json:"cumulative_cost"` // up to and with the bucket; US dollars
	Budget         *float64 `json:"budget"`          // monthly limit of the organization in force on the first day of the bucket; US dollars
}
type CostTrend struct {
	Granularity string          `json:"granularity"` // as asked for; the next coarser one where an end of the range that is not given makes more than 10,000 buckets
	Data        []CostTrendData `json:"data"`
}
type EffectsListParams struct {
	Page      int64  `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage   int64  `json:"per_page,omitempty"`  // Items on a page
	Verdict   string `json:"verdict,omitempty"`   // Only these
	Kind      string `json:"kind,omitempty"`      // Only of this trait or kind
	DateFrom  string `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo    string `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
	Dismissed *bool  `json:"dismissed,omitempty"` // Only dismissed ones, or only others
}
type EffectChange struct {
	Trait     string `json:"trait"`
	Value     string `json:"value"`
	Source    string `json:"source"`
	FirstWeek string `json:"first_week"` // Monday
	Unit      string `json:"unit"`
}
type EffectWeeks struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}
type EffectClusters struct {
	By      string `json:"by"`
	Changed int64  `json:"changed"`
	Others  int64  `json:"others"`
}

// EffectMoneyParts: They add up to `extra`.
type EffectMoneyParts struct {
	Price               float64 `json:"price"`
	CallsPerPrompt      float64 `json:"calls_per_prompt"`
	ModelMix            float64 `json:"model_mix"`
	InputPerCall        float64 `json:"input_per_call"`
	OutputPerCall       float64 `json:"output_per_call"`
	CacheReadPerCall    float64 `json:"cache_read_per_call"`
	CacheWrite5mPerCall float64 `json:"cache_write_5m_per_call"`
	CacheWrite1hPerCall float64 `json:"cache_write_1h_per_call"`
	OtherPerCall        float64 `json:"other_per_call"`
}
type EffectMoney struct {
	Compared float64          `json:"compared"` // US dollars: cost after the change of what is compared, of those who changed
	Extra    float64          `json:"extra"`    // US dollars: what the change made of it
	Low      *float64         `json:"low"`
	High     *float64         `json:"high"`
	Parts    EffectMoneyParts `json:"parts"` // They add up to `extra`
}

// EffectPlacebo: The same before the change, where there must be nothing.
type EffectPlacebo struct {
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}
type Effect struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Change        EffectChange    `json:"change"`
	Evidence      string          `json:"evidence"` // Compared with those who had not changed; with the own past, where all changed at once; or days that were drawn
	Verdict       string          `json:"verdict"`
	Measure       string          `json:"measure"`
	Weeks         *EffectWeeks    `json:"weeks"`
	Changed       int64           `json:"changed"` // Units that changed and are compared
	Others        int64           `json:"others"`  // Units that had not changed
	Clusters      *EffectClusters `json:"clusters"`
	Effect        *float64        `json:"effect"`       // A share for costs, else the difference
	Low           *float64        `json:"low"`          // The lower end of its range; null also where it has none
	High          *float64        `json:"high"`         // The upper end of its range; null also where it has none
	VisibleRise   *float64        `json:"visible_rise"` // A rise from which on it could have been seen
	VisibleFall   *float64        `json:"visible_fall"` // The same of a fall
	P             *float64        `json:"p"`            // Of assigned ones: how often another draw shows as much
	Money         *EffectMoney    `json:"money"`
	ComparedShare *float64        `json:"compared_share"` // The compared share of the cost of those who changed
	Placebo       *EffectPlacebo  `json:"placebo"`        // The same before the change, where there must be nothing
	Dismissed     bool            `json:"dismissed"`
	AlsoChanged   []string        `json:"also_changed"` // Ids of changes of one of its units within four weeks of this one
	LookAt        *string         `json:"look_at"`      // When there is something to see; null: now
	Notes         []string        `json:"notes"`
}
type EffectPage = Page[Effect]
type EffectsGetParams struct {
	Weeks   string `json:"weeks,omitempty"`   // Weeks after the change; 8 are a second look, with ranges of 97.5 %
	Measure string `json:"measure,omitempty"` // What is measured; of failed_tool_share and quality the effect is a difference
}
type NewEffect struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind,omitempty"` // Of a recorded change
	Week     string   `json:"week,omitempty"` // A day of the week in which it changed
	Day      string   `json:"day,omitempty"`  // The day on which it changed, in place of the week
	Unit     string   `json:"unit,omitempty"`
	Members  []string `json:"members,omitempty"` // Ids, or addresses in any case
	Projects []string `json:"projects,omitempty"`
	Team     string   `json:"team,omitempty"`
	Assigned string   `json:"assigned,omitempty"` // Days are drawn, in place of a change that is recorded
	From     string   `json:"from,omitempty"`     // First day, today or later
	To       string   `json:"to,omitempty"`       // Last day
}
type EffectUpdate struct {
	Name      *string `json:"name,omitempty"`
	Dismissed *bool   `json:"dismissed,omitempty"`
}
type EffectsArmParams struct {
	Day string `json:"day,omitempty"` // A day of the range; today unless given
}
type Arm struct {
	Arm int64 `json:"arm"` // 1 where the change is on
}
type NotesListParams struct {
	DateFrom string `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
	Project  string `json:"project,omitempty"`   // The organization’s notes and those of this project; empty: the organization’s alone
	Team     string `json:"team,omitempty"`      // The organization’s notes and those of this team; empty: the organization’s alone
	Page     int64  `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage  int64  `json:"per_page,omitempty"`  // Items on a page
}
type Note struct {
	ID      string `json:"id"`
	Day     string `json:"day"` // A day of the organization’s zone
	Text    string `json:"text"`
	Project string `json:"project"` // It concerns this project
	Team    string `json:"team"`    // It concerns this team
}
type NotePage = Page[Note]
type NewNote struct {
	Day     string `json:"day"` // A day of the organization’s zone
	Text    string `json:"text"`
	Project string `json:"project,omitempty"`
	Team    string `json:"team,omitempty"`
}
type SecurityOverviewSummary struct {
	AvgScore      float64 `json:"avg_score"` // mean of all matching sessions, 0 without any
	MinScore      float64 `json:"min_score"` // lowest of them
	MaxScore      float64 `json:"max_score"` // highest of them
	TotalSessions int64   `json:"total_sessions"`
}

// SecurityOverviewFound: With `compare`: findings of the sessions, of any status.
type SecurityOverviewFound struct {
	Critical int64 `json:"critical"`
	Total    int64 `json:"total"`
}

// SecurityOverviewPrevious: In the range of `compare`.
type SecurityOverviewPrevious struct {
	AvgScore      float64               `json:"avg_score"` // mean of all matching sessions, 0 without any
	MinScore      float64               `json:"min_score"` // lowest of them
	MaxScore      float64               `json:"max_score"` // highest of them
	TotalSessions int64                 `json:"total_sessions"`
	Found         SecurityOverviewFound `json:"found"`
}
type SecurityOverviewRecentSession struct {
	ID               string           `json:"id"`
	Project          *string          `json:"project"`
	CreatedAt        string           `json:"created_at"` // When the session began
	SecurityMetadata SecurityMetadata `json:"security_metadata"`
}
type SecurityOverview struct {
	Summary        SecurityOverviewSummary         `json:"summary"`
	Found          *SecurityOverviewFound          `json:"found"`           // With `compare`: findings of the sessions, of any status
	Previous       *SecurityOverviewPrevious       `json:"previous"`        // In the range of `compare`
	RecentSessions []SecurityOverviewRecentSession `json:"recent_sessions"` // the 10 newest of the matching sessions
}
type SecurityHeatmapParams struct {
	Page     int64    `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage  int64    `json:"per_page,omitempty"`  // Items on a page
	Project  string   `json:"project,omitempty"`   // Only this project; empty: only what has none
	MinScore *float64 `json:"min_score,omitempty"` // Only files with at least this risk score
	DateFrom string   `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo   string   `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
}
type HeatmapFileFindings struct {
	Critical int64 `json:"critical"` // distinct findings, by fingerprint, that are critical at their gravest
	High     int64 `json:"high"`     // distinct findings, by fingerprint, that are high at their gravest
	Medium   int64 `json:"medium"`   // distinct findings, by fingerprint, that are medium at their gravest
	Low      int64 `json:"low"`      // distinct findings, by fingerprint, that are low at their gravest
	Total    int64 `json:"total"`
}
type HeatmapFile struct {
	File        string              `json:"file"`
	Project     *string             `json:"project"`
	RiskScore   float64             `json:"risk_score"` // 25, 15, 8 and 3 points for each critical, high, medium and low finding, at most 100
	Findings    HeatmapFileFindings `json:"findings"`
	Sessions    int64               `json:"sessions"`      // sessions with a finding in the file
	FirstSeenAt string              `json:"first_seen_at"` // Begin of the first of them
	LastSeenAt  string              `json:"last_seen_at"`  // Begin of the last of them
}
type HeatmapSummary struct {
	Files               int64   `json:"files"`                 // files that match, on all pages
	AverageRisk         float64 `json:"average_risk"`          // their mean risk score, 0 without any
	FilesAboveThreshold int64   `json:"files_above_threshold"` // those with a risk score above `threshold`
	Threshold           int64   `json:"threshold"`
}
type Heatmap struct {
	Page[HeatmapFile]
	Summary HeatmapSummary `json:"summary"`
}
type FindingsListParams struct {
	Page     int64  `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage  int64  `json:"per_page,omitempty"`  // Items on a page
	Severity string `json:"severity,omitempty"`  // Only of this severity
	RuleID   string `json:"rule_id,omitempty"`   // Only of this rule
	Category string `json:"category,omitempty"`  // Only of this category
	Project  string `json:"project,omitempty"`   // Only this project; empty: only what has none
	File     string `json:"file,omitempty"`      // Only in this file
	Member   string `json:"member,omitempty"`    // Only in sessions of this member: an id, or an address in any case
	Status   string `json:"status,omitempty"`    // Only of this status
	Assignee string `json:"assignee,omitempty"`  // Only those of this assignee: an id, or an address in any case; empty: of nobody
	DateFrom string `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
	Sort     string `json:"sort,omitempty"`      // The newest first, or the most severe and of these the newest
	Include  string `json:"include,omitempty"`   // `counts`: also how many match by severity, and what has most of them
}
type FindingCountsSeverity struct {
	Critical int64 `json:"critical"`
	High     int64 `json:"high"`
	Medium   int64 `json:"medium"`
	Low      int64 `json:"low"`
}
type FindingCountsCategoryProject struct {
	Key      *string `json:"key"`
	Findings int64   `json:"findings"`
}
type FindingCountsCategoryMember struct {
	Key      *SessionMember `json:"key"` // Whose session it is; null where that is not known, or not shown
	Findings int64          `json:"findings"`
}
type FindingCountsCategory struct {
	Key      string                         `json:"key"`
	Findings int64                          `json:"findings"`
	Project  []FindingCountsCategoryProject `json:"project"` // Projects with most of them, at most three
	Member   []FindingCountsCategoryMember  `json:"member"`  // Members with most of them, at most three
}

// FindingCounts: With `include=counts`, of all pages.
type FindingCounts struct {
	Severity FindingCountsSeverity          `json:"severity"`
	Category []FindingCountsCategory        `json:"category"` // Categories with most of them, at most ten
	Project  []FindingCountsCategoryProject `json:"project"`  // Projects with most of them, at most three
	Member   []FindingCountsCategoryMember  `json:"member"`   // Members with most of them, at most three
}
type ListedFindingPage struct {
	Page[ListedFinding]
	Counts *FindingCounts `json:"counts"`
}
type FindingChange struct {
	Status   *string           `json:"status,omitempty"`
	Note     *string           `json:"note,omitempty"`
	Assignee *Nullable[string] `json:"assignee,omitempty"` // Who is to mend it: a member’s id, or an address in any case; null: nobody
}
type AuditListParams struct {
	Page     int64  `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage  int64  `json:"per_page,omitempty"`  // Items on a page
	Action   string `json:"action,omitempty"`    // Only this action, or those that begin alike: `webhook.*`
	UserID   string `json:"user_id,omitempty"`   // Only entries of this actor
	DateFrom string `json:"date_from,omitempty"` // First UTC day, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last UTC day, inclusive
}
type AuditEntry struct {
	ID        string         `json:"id"`
	Action    string         `json:"action"`
	UserID    string         `json:"user_id"`    // Who did it: `key_…` an API key, `cli:…` somebody at the command line, or as imported
	Details   map[string]any `json:"details"`    // What was done; `ids` are those of what was changed
	IPAddress string         `json:"ip_address"` // empty where none is known: commands
	CreatedAt string         `json:"created_at"` // UTC, microseconds; no two entries of an organization have the same
}
type AuditEntryPage = Page[AuditEntry]
type AuditReportParams struct {
	Cursor    string `json:"cursor,omitempty"`    // Where to go on, as `next_cursor` says: a date and time, or a date; UTC without an offset
	Direction string `json:"direction,omitempty"` // before: entries older than the cursor, newest first; after: newer, oldest first
}
type AuditReportSummaryByAction struct {
	Action string `json:"action"`
	Count  int64  `json:"count"`
}
type AuditReportSummaryByUser struct {
	UserID string `json:"user_id"`
	Count  int64  `json:"count"`
}
type AuditReportSummaryByDay struct {
	Date  string `json:"date"`
	Count int64  `json:"count"`
}
type AuditReportSummary struct {
	Total    int64                        `json:"total"`
	ByAction []AuditReportSummaryByAction `json:"by_action"` // By count descending, then by name
	ByUser   []AuditReportSummaryByUser   `json:"by_user"`   // By count descending, then by name
	ByDay    []AuditReportSummaryByDay    `json:"by_day"`    // Ascending; only UTC days with entries
}
type AuditReport struct {
	Source      string             `json:"source"` // Whether a compliance report was made, or this is read from the log
	ReportID    *string            `json:"report_id"`
	GeneratedAt string             `json:"generated_at"` // When the report was made; of the fallback: time of the newest entry
	Period      ExplanationAgainst `json:"period"`       // UTC days, inclusive; of the fallback: the whole log
	Summary     AuditReportSummary `json:"summary"`
	Data        []AuditEntry       `json:"data"`
	Truncated   bool               `json:"truncated"`   // Whether there are more
	NextCursor  *string            `json:"next_cursor"` // created_at of the last entry here: the cursor to give next
}
type TeamOverviewMember struct {
	ID          string  `json:"id"`
	Email       string  `json:"email"`
	DisplayName string  `json:"display_name"`
	Role        string  `json:"role"`
	JoinedAt    string  `json:"joined_at"`
	Team        *string `json:"team"`
}
type TeamOverviewActivitySummary struct {
	SessionsLast7d      int64 `json:"sessions_last_7d"`       // sessions in the 168 hours before now
	ActiveMembersLast7d int64 `json:"active_members_last_7d"` // members with at least one of them
}
type TeamOverview struct {
	Members         []TeamOverviewMember        `json:"members"` // by joined_at, then id
	ActivitySummary TeamOverviewActivitySummary `json:"activity_summary"`
}
type TeamExpertiseParams struct {
	Path string `json:"path,omitempty"` // Only who knows this file, and the domains that it is of; a name without a folder that is no file means the files of this name
}
type ExpertiseDataDomain struct {
	Domain           string  `json:"domain"`            // project and top-level directory; `.` for files beside the directories
	Score            float64 `json:"score"`             // 0 to 100: mean degree of authorship of the files, weighted with ln(1 + commits)
	Commits          int64   `json:"commits"`           // their commits that touched the domain
	Sessions         int64   `json:"sessions"`          // their sessions that touched files of the domain
	FilesOwned       int64   `json:"files_owned"`       // files with at least 0.75 of the greatest degree of authorship
	OwnershipPercent float64 `json:"ownership_percent"` // files_owned in percent of the files
	IsPrimaryOwner   bool    `json:"is_primary_owner"`  // owns most files of the domain
	LastActiveAt     string  `json:"last_active_at"`    // their latest commit to a file that is there
}
type ExpertiseData struct {
	UserID      *string               `json:"user_id"` // null for an owner of files whose address is no member’s
	DisplayName string                `json:"display_name"`
	Score       *float64              `json:"score"`   // With `path`: 0 to 100, by what they wrote of the file itself
	Domains     []ExpertiseDataDomain `json:"domains"` // by score descending, then domain
}
type ExpertiseDomain struct {
	Domain         string  `json:"domain"`           // project and top-level directory; `.` for files beside the directories
	Files          int64   `json:"files"`            // files that are there and that people changed
	BusFactor      int64   `json:"bus_factor"`       // authors whose removal leaves more than half of the files without one
	PrimaryOwnerID *string `json:"primary_owner_id"` // null when the primary owner is no member
}
type Expertise struct {
	Data    []ExpertiseData   `json:"data"`    // members by joined_at, then id; then authors who are no members, by name. With `path` by `score`
	Domains []ExpertiseDomain `json:"domains"` // by domain
	Files   []string          `json:"files"`   // With a `path` that is only a name: the files, at most 20, that it means and `data` is of
}
type MachinePage = Page[Machine]
type Coverage struct {
	Member           *SessionMember `json:"member"` // Whose sessions; null for those without a user
	Agent            *string        `json:"agent"`
	Sessions         int64          `json:"sessions"`
	TranscriptTokens int64          `json:"transcript_tokens"` // of all four kinds, as transcripts and clients state them
	TelemetryTokens  int64          `json:"telemetry_tokens"`  // as telemetry states them
	CapturedShare    *float64       `json:"captured_share"`    // The part of the transcripts’ tokens that telemetry had too, 0 to 1: for each session no more than its transcript. Null without any transcript
	LastSeenAt       string         `json:"last_seen_at"`      // When the newest of the sessions ended
}
type CoveragePage = Page[Coverage]
type RiskListParams struct {
	Page    int64  `json:"page,omitempty"`     // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage int64  `json:"per_page,omitempty"` // Items on a page
	Repo    string `json:"repo,omitempty"`     // Only pull requests of this repository
	Rating  string `json:"rating,omitempty"`   // Only scores of this band
	State   string `json:"state,omitempty"`    // Only pull requests in this state
	Include string `json:"include,omitempty"`  // Adds `cost`, `sessions` and `state` to each item
}
type RiskScore struct {
	ID              string                    `json:"id"`
	Repo            string                    `json:"repo"`
	PrNumber        int64                     `json:"pr_number"`
	PrTitle         string                    `json:"pr_title"`
	RiskScore       int64                     `json:"risk_score"`       // 0.30 impact + 0.25 regression + 0.25 security + 0.20 coupling, rounded
	ImpactScore     float64                   `json:"impact_score"`     // How much it can do: hotspots, spread, files that few know; 0 to 100, high is bad
	RegressionScore float64                   `json:"regression_score"` // Chance that it brings a defect in, in percent; 0 to 100, high is bad
	SecurityScore   float64                   `json:"security_score"`   // Open findings in its files, and sensitive ones among them; 0 to 100, high is bad
	CouplingScore   float64                   `json:"coupling_score"`   // Files that usually change with these and are missing; 0 to 100, high is bad
	FilesChanged    int64                     `json:"files_changed"`
	CreatedAt       string                    `json:"created_at"` // When the pull request was opened
	Rating          string                    `json:"rating"`     // low to 30, medium to 60, high to 80, else critical
	Contributions   PrRiskRecordContributions `json:"contributions"`
	Cost            *float64                  `json:"cost"`     // Its parts of the cost of its sessions, US dollars; with `include`
	Sessions        *int64                    `json:"sessions"` // Sessions that worked on it; with `include`
	State           string                    `json:"state"`    // With `include`
}
type RiskScorePage = Page[RiskScore]
type FixRate struct {
	Rating        string   `json:"rating"`
	PullRequests  int64    `json:"pull_requests"`   // The newest merged ones of this rating, 100 at most
	FollowedByFix int64    `json:"followed_by_fix"` // Those after which a fix changed one of their files within 30 days: docs/risk.md
	Share         *float64 `json:"share"`           // null below 20 pull requests; rounded to 6 decimals
}
type RiskSession struct {
	ID            string  `json:"id"`
	ProjectName   *string `json:"project_name"`
	Turns         int64   `json:"turns"`
	EstimatedCost float64 `json:"estimated_cost"` // US dollars
	Part          float64 `json:"part"`           // What of it the pull request has: all, or an equal part where several have the session; US dollars
	QualityScore  float64 `json:"quality_score"`  // 0 to 100, high is good
	CreatedAt     string  `json:"created_at"`     // When the session began
}
type RiskSessions struct {
	Count          int64         `json:"count"`           // Sessions that worked on the pull request
	Cost           float64       `json:"cost"`            // The sum of their parts; US dollars
	AverageQuality float64       `json:"average_quality"` // 0 without sessions
	Findings       int64         `json:"findings"`        // Security findings of these sessions
	Data           []RiskSession `json:"data"`            // The newest 50 of them
}
type RiskDetail struct {
	ID              string                    `json:"id"`
	Repo            string                    `json:"repo"`
	PrNumber        int64                     `json:"pr_number"`
	PrTitle         string                    `json:"pr_title"`
	RiskScore       int64                     `json:"risk_score"`       // 0.30 impact + 0.25 regression + 0.25 security + 0.20 coupling, rounded
	ImpactScore     float64                   `json:"impact_score"`     // How much it can do: hotspots, spread, files that few know; 0 to 100, high is bad
	RegressionScore float64                   `json:"regression_score"` // Chance that it brings a defect in, in percent; 0 to 100, high is bad
	SecurityScore   float64                   `json:"security_score"`   // Open findings in its files, and sensitive ones among them; 0 to 100, high is bad
	CouplingScore   float64                   `json:"coupling_score"`   // Files that usually change with these and are missing; 0 to 100, high is bad
	FilesChanged    int64                     `json:"files_changed"`
	CreatedAt       string                    `json:"created_at"` // When the pull request was opened
	Rating          string                    `json:"rating"`     // low to 30, medium to 60, high to 80, else critical
	Contributions   PrRiskRecordContributions `json:"contributions"`
	State           string                    `json:"state"` // `open` where no record says it
	MergedAt        *string                   `json:"merged_at"`
	ClosedAt        *string                   `json:"closed_at"`
	URL             *string                   `json:"url"`
	EffectiveLines  int64                     `json:"effective_lines"` // Effective lines that its commits added, as far as these were sent with their lines
	AiLines         int64                     `json:"ai_lines"`        // Those of the lines that agents wrote
	AiShare         *float64                  `json:"ai_share"`        // ai_lines ÷ effective_lines
	FixRate         FixRate                   `json:"fix_rate"`
	Sessions        RiskSessions              `json:"sessions"`
}
type OutcomesListParams struct {
	By       string `json:"by,omitempty"`        // What an item is of
	DateFrom string `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
	Project  string `json:"project,omitempty"`   // Only this project; empty: only what has none
	Repo     string `json:"repo,omitempty"`      // Only this repository; sessions and commits count under that of their project’s pull requests
	Member   string `json:"member,omitempty"`    // Only what this member did: an id, or an address in any case
	Team     string `json:"team,omitempty"`      // Only what members of this team did, which they are in now; empty: of members in none, and of nobody
	Compare  string `json:"compare,omitempty"`   // Adds `previous` to the total, the same of another range: `previous`, the equally long range before, which needs both dates, or days as `2026-10-01..2026-10-31`
	Page     int64  `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage  int64  `json:"per_page,omitempty"`  // Items on a page
}

// OutcomePullRequests: In the period in which they were merged or closed, else opened.
type OutcomePullRequests struct {
	Open   int64 `json:"open"`
	Merged int64 `json:"merged"`
	Closed int64 `json:"closed"`
}
type SurvivingLines struct {
	Lines int64    `json:"lines"` // Agents’ lines that were still there 14 days later
	Of    int64    `json:"of"`    // Agents’ lines of the commits that are old enough and of which that was sent
	Share *float64 `json:"share"` // `lines` ÷ `of`; rounded to 6 decimals
}
type OutcomeSurvival struct {
	Days14 SurvivingLines `json:"14"`
	Days30 SurvivingLines `json:"30"`
}

// OutcomesTotalPrevious: In the range of `compare`.
type OutcomesTotalPrevious struct {
	PullRequests             OutcomePullRequests `json:"pull_requests"`                // In the period in which they were merged or closed, else opened
	MergeRate                *float64            `json:"merge_rate"`                   // merged ÷ (merged + closed); rounded to 6 decimals
	Cost                     float64             `json:"cost"`                         // Of the sessions of the group; US dollars
	LinkedCost               float64             `json:"linked_cost"`                  // The parts of sessions that belong to the group’s pull requests, whenever they were; US dollars
	LinkedShare              *float64            `json:"linked_share"`                 // How much of `cost` is linked to a pull request; rounded to 6 decimals
	CostPerMergedPullRequest *float64            `json:"cost_per_merged_pull_request"` // `linked_cost` ÷ merged; US dollars
	Commits                  *int64              `json:"commits"`
	EffectiveLines           *int64              `json:"effective_lines"` // Added lines that count: docs/outcomes.md
	AiLines                  int64               `json:"ai_lines"`        // Those of them that agents wrote
	AiShare                  *float64            `json:"ai_share"`        // `ai_lines` ÷ `effective_lines`; rounded to 6 decimals
	Survival                 *OutcomeSurvival    `json:"survival"`
}
type Outcome struct {
	OutcomesTotalPrevious
	Key *string `json:"key"` // The first day of a month or week; a project, repository, team, agent; a member’s id, or the address where no member has it; null where there is none
}

// OutcomesTotal: It counts the items of all pages.
type OutcomesTotal struct {
	OutcomesTotalPrevious
	Previous *OutcomesTotalPrevious `json:"previous"` // In the range of `compare`
}
type Outcomes struct {
	Page[Outcome]
	Total OutcomesTotal `json:"total"`
}
type WebhookEndpointList struct {
	Data []WebhookEndpoint `json:"data"`
}
type NewWebhookEndpoint struct {
	URL         string   `json:"url"`                   // Absolute https URL without user or password, of a host that is not on a private network
	Events      []string `json:"events"`                // Events to be told of, or `*` for all, those to come too; with others beside it, `*` stands for them all
	Enabled     *bool    `json:"enabled,omitempty"`     // true unless given
	Description string   `json:"description,omitempty"` // For people; null is none
}
type CreatedWebhookEndpoint struct {
	WebhookEndpoint
	Secret string `json:"secret"` // Signs every delivery; shown here only, keep it
}
type WebhookEndpointChange struct {
	URL         *string           `json:"url,omitempty"`         // Absolute https URL without user or password, of a host that is not on a private network
	Events      *[]string         `json:"events,omitempty"`      // Events to be told of, or `*` for all, those to come too; with others beside it, `*` stands for them all
	Enabled     *bool             `json:"enabled,omitempty"`     // true unless given
	Description *Nullable[string] `json:"description,omitempty"` // For people; null is none
}
type SecretRotation struct {
	GracePeriodSeconds *int64 `json:"grace_period_seconds,omitempty"` // How long deliveries are signed with the former secret too
	Finish             *bool  `json:"finish,omitempty"`               // Makes no secret, but ends the grace of the one before: the receiver has the new one
}
type RotatedSecret struct {
	ID                      string  `json:"id"`                         // Id of the endpoint
	Secret                  string  `json:"secret"`                     // Signs every delivery; shown here only, keep it
	PreviousSecretExpiresAt *string `json:"previous_secret_expires_at"` // Until when deliveries are signed with the former secret too; null: they are not
}
type WebhookTest struct {
	Event string `json:"event,omitempty"` // Send this event's example instead of `webhook.test`
}
type WebhookTestResult struct {
	DeliveryID   string  `json:"delivery_id"`
	Event        string  `json:"event"`
	Success      bool    `json:"success"`     // The receiver answered with 2xx
	StatusCode   *int64  `json:"status_code"` // null: no answer
	DurationMs   int64   `json:"duration_ms"`
	Error        *string `json:"error"`         // What went wrong
	ResponseBody *string `json:"response_body"` // The first 1 KiB of the answer
}
type Recovery struct {
	Since  string `json:"since"`             // Deliveries made from then on
	Until  string `json:"until,omitempty"`   // and before then; now unless given
	DryRun *bool  `json:"dry_run,omitempty"` // Only count them
}
type RecoveryResult struct {
	Count int64 `json:"count"` // Deliveries that are sent again
}

// EventCatalogueDataExample: A body.
type EventCatalogueDataExample struct {
	ID         string         `json:"id"`        // The same at every attempt and in every redelivery
	Event      string         `json:"event"`     // Name of the event
	Test       *bool          `json:"test"`      // There where it is an example, which the test of an endpoint sent
	Type       string         `json:"type"`      // The same as `event`
	Timestamp  string         `json:"timestamp"` // When it happened: UTC, milliseconds
	APIVersion string         `json:"api_version"`
	Data       map[string]any `json:"data"`
}
type EventCatalogueData struct {
	Name    string                    `json:"name"`
	Meaning string                    `json:"meaning"`
	Schema  map[string]any            `json:"schema"`  // JSON Schema of the body that is sent
	Example EventCatalogueDataExample `json:"example"` // A body
}
type EventCatalogue struct {
	Data []EventCatalogueData `json:"data"`
}
type WebhooksDeliveriesListParams struct {
	Page     int64  `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage  int64  `json:"per_page,omitempty"`  // Items on a page
	Status   string `json:"status,omitempty"`    // Only deliveries in this state
	Event    string `json:"event,omitempty"`     // Only deliveries of this event
	DateFrom string `json:"date_from,omitempty"` // First UTC day, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last UTC day, inclusive
}
type Delivery struct {
	ID             string  `json:"id"` // Also in the header X-Service-Delivery
	Event          string  `json:"event"`
	EventID        string  `json:"event_id"`         // Also in the header webhook-id
	Status         string  `json:"status"`           // pending: to be sent; pending_retry: failed, and sent again later; failed: given up; cancelled: its endpoint is gone
	Attempts       int64   `json:"attempts"`         // Attempts begun
	NextAttemptAt  *string `json:"next_attempt_at"`  // When it is sent next; null: it is finished, or an attempt is in flight
	LastStatusCode *int64  `json:"last_status_code"` // Of the latest attempt; null: no answer
	CreatedAt      string  `json:"created_at"`       // When the event happened
	CompletedAt    *string `json:"completed_at"`     // When it was finished
}
type DeliveryPage = Page[Delivery]
type Attempt struct {
	Number       int64   `json:"number"`
	StartedAt    string  `json:"started_at"`    // When it was begun
	DurationMs   *int64  `json:"duration_ms"`   // null: it is not known how it ended
	StatusCode   *int64  `json:"status_code"`   // null: no answer
	Error        *string `json:"error"`         // What went wrong
	ResponseBody *string `json:"response_body"` // The first 1 KiB of the answer
}
type DeliveryDetailRequest struct {
	Headers map[string]string `json:"headers"` // As at the latest attempt; signatures are hidden
	Body    string            `json:"body"`    // What is sent, to the byte
}
type DeliveryDetail struct {
	ID             string                `json:"id"` // Also in the header X-Service-Delivery
	Event          string                `json:"event"`
	EventID        string                `json:"event_id"`         // Also in the header webhook-id
	Status         string                `json:"status"`           // pending: to be sent; pending_retry: failed, and sent again later; failed: given up; cancelled: its endpoint is gone
	Attempts       []Attempt             `json:"attempts"`         // Those that have ended, from the first
	NextAttemptAt  *string               `json:"next_attempt_at"`  // When it is sent next; null: it is finished, or an attempt is in flight
	LastStatusCode *int64                `json:"last_status_code"` // Of the latest attempt; null: no answer
	CreatedAt      string                `json:"created_at"`       // When the event happened
	CompletedAt    *string               `json:"completed_at"`     // When it was finished
	Request        DeliveryDetailRequest `json:"request"`
}
type BadgeParams struct {
	Style   string `json:"style,omitempty"`   // Shape of the badge; flat unless given
	Label   string `json:"label,omitempty"`   // Text on the left instead of the organization's; cut after 40 characters
	Days    int64  `json:"days,omitempty"`    // Days that count, today included
	Project string `json:"project,omitempty"` // Only this project; empty: only what has none
	Token   string `json:"token,omitempty"`   // The organization's badge token, where its badges are private
}
type ShieldsBadge struct {
	SchemaVersion float64 `json:"schemaVersion"`
	Label         string  `json:"label"`
	Message       string  `json:"message"`
	Color         string  `json:"color"`
	Style         string  `json:"style"`
	CacheSeconds  int64   `json:"cacheSeconds"`
}

// Health: Every part works.
type Health struct {
	Status   string `json:"status"` // `ok`, or `error` when a part fails
	Version  string `json:"version"`
	Instance string `json:"instance"` // Tells the server’s data from those of others; `health` and `doctor` compare it
	Database string `json:"database"` // `ok`, or what is wrong
	Worker   string `json:"worker"`   // `ok`, or what is wrong
}

// Readiness: Requests may be sent.
type Readiness struct {
	Status   string `json:"status"`   // `ready`, or `not ready` when a part fails
	Database string `json:"database"` // `ok`, or what is wrong
	Disk     string `json:"disk"`     // `ok`, or what is wrong with the embedded database’s disk or the folder of backups
	Worker   string `json:"worker"`   // `ok`, or what is wrong
	Schema   string `json:"schema"`   // `ok`, or that a newer program has migrated the database
}
type Liveness struct {
	Status string `json:"status"` // `ok`
}

// ServerLastBackup: The newest complete one that the server made.
type ServerLastBackup struct {
	At    string `json:"at"`    // When it began
	Bytes int64  `json:"bytes"` // Size of its file
}

// ServerDisk: It holds the data directory; null where the database is another server’s.
type ServerDisk struct {
	FreeBytes  int64 `json:"free_bytes"`  // Free space, to 100 MB
	TotalBytes int64 `json:"total_bytes"` // All of its space
}
type Server struct {
	Version            string            `json:"version"`
	DatabaseBytes      int64             `json:"database_bytes"`       // Size of the database on disk
	BackupEverySeconds *float64          `json:"backup_every_seconds"` // null: the server makes none
	LastBackup         *ServerLastBackup `json:"last_backup"`          // The newest complete one that the server made
	BackupFailedAt     *string           `json:"backup_failed_at"`     // Since the last success
	Disk               *ServerDisk       `json:"disk"`                 // It holds the data directory; null where the database is another server’s
}
type APIKey struct {
	WhoAmIKey
	CreatedAt  string  `json:"created_at"`
	CreatedBy  *string `json:"created_by"` // The member or key that made it; null: the command line
	LastUsedAt *string `json:"last_used_at"`
	RevokedAt  *string `json:"revoked_at"`
}
type APIKeyPage = Page[APIKey]
type NewAPIKey struct {
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	ExpiresAt string   `json:"expires_at,omitempty"` // In the future; without it the key does not expire
	Member    string   `json:"member,omitempty"`     // Id or address of a member
}
type CreatedAPIKey struct {
	APIKey
	Key string `json:"key"` // The key itself: shown once
}
type APIKeyRotation struct {
	GracePeriodSeconds *int64 `json:"grace_period_seconds,omitempty"` // How long the old key still works
}
type MembersListParams struct {
	Page    int64  `json:"page,omitempty"`     // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage int64  `json:"per_page,omitempty"` // Items on a page
	Q       string `json:"q,omitempty"`        // Part of the address or name, in any case
	Role    string `json:"role,omitempty"`     // Only this role
}
type Member struct {
	TeamOverviewMember
	Aliases        []string `json:"aliases"` // Other addresses of the member
	LastSignedInAt *string  `json:"last_signed_in_at"`
	Status         string   `json:"status"` // `invited`: an invitation is open that the member has not accepted
}
type MemberPage = Page[Member]
type NewMember struct {
	Email       string `json:"email"`
	DisplayName string `json:"display_name"`
	Role        string `json:"role"`
	Team        string `json:"team,omitempty"` // Null for none. Without this field the one that is stored stays
}
type MemberChange struct {
	DisplayName *string           `json:"display_name,omitempty"`
	Role        *string           `json:"role,omitempty"`
	Team        *Nullable[string] `json:"team,omitempty"`    // Null for none. Without this field the one that is stored stays
	Aliases     *[]string         `json:"aliases,omitempty"` // All other addresses of the member; [] for none
}
type Invitation struct {
	URL       string `json:"url"` // The link by which the member sets a password, once; shown in this answer only
	ExpiresAt string `json:"expires_at"`
}
type InvitedMember struct {
	Email       string `json:"email"`
	DisplayName string `json:"display_name,omitempty"` // The part of the address before the @ unless given
	Role        string `json:"role"`
	Team        string `json:"team,omitempty"` // Null for none. Without this field the one that is stored stays
}
type NewInvitations struct {
	Members []InvitedMember `json:"members"`
}
type InvitationsData struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	URL       string `json:"url"` // The link for this member; shown in this answer only
	ExpiresAt string `json:"expires_at"`
}
type Invitations struct {
	Data []InvitationsData `json:"data"` // In the order of the request
}

// PendingRetention: A shorter retention that waits: it holds from `at` on, and would delete so many sessions.
type PendingRetention struct {
	Days     int64  `json:"days"`
	Sessions int64  `json:"sessions"`
	At       string `json:"at"`
}

// OrganizationSettingsTimeZonePending: A time zone that will be in force when all days are computed anew.
type OrganizationSettingsTimeZonePending struct {
	TimeZone string `json:"time_zone"` // A name of IANA: days, weeks and months are those of the zone
	At       string `json:"at"`        // When it was asked for: UTC, milliseconds
}
type BadgeSettingsLabels struct {
	Quality  string `json:"quality"`
	Security string `json:"security"`
	Cost     string `json:"cost"`
}
type BadgeSettingsColors struct {
	Good   string `json:"good"`
	Medium string `json:"medium"`
	Bad    string `json:"bad"`
}
type BadgeSettingsThresholds struct {
	Good   float64 `json:"good"`
	Medium float64 `json:"medium"`
}
type BadgeSettings struct {
	Visibility string                  `json:"visibility"`
	Token      *bool                   `json:"token"`
	Labels     BadgeSettingsLabels     `json:"labels"`
	Colors     BadgeSettingsColors     `json:"colors"`
	Thresholds BadgeSettingsThresholds `json:"thresholds"`
}
type OrganizationSettings struct {
	WhoAmIOrganization
	HideMembers           bool                                 `json:"hide_members"`            // Members are shown to keys with the scope team:read only
	MemberVisibility      string                               `json:"member_visibility"`       // `own`: developers see only their own sessions and figures
	RetentionSessionsDays *int64                               `json:"retention_sessions_days"` // Sessions are deleted after so many days; null: they are kept for ever
	RetentionPending      *PendingRetention                    `json:"retention_pending"`       // A shorter retention that waits: it holds from `at` on, and would delete so many sessions
	TimeZonePending       *OrganizationSettingsTimeZonePending `json:"time_zone_pending"`       // A time zone that will be in force when all days are computed anew
	Badges                BadgeSettings                        `json:"badges"`
	TicketPattern         string                               `json:"ticket_pattern"`
	TicketIgnore          []string                             `json:"ticket_ignore"`
	BudgetAction          string                               `json:"budget_action"`     // The hook on laptops warns beyond a budget, or refuses prompts
	GithubSecretSet       bool                                 `json:"github_secret_set"` // Whether the secret of GitHub’s webhook is set
}
type BadgesChangeLabels struct {
	Quality  *Nullable[string] `json:"quality,omitempty"`
	Security *Nullable[string] `json:"security,omitempty"`
	Cost     *Nullable[string] `json:"cost,omitempty"`
}
type BadgesChangeColors struct {
	Good   *string `json:"good,omitempty"`
	Medium *string `json:"medium,omitempty"`
	Bad    *string `json:"bad,omitempty"`
}
type BadgesChangeThresholds struct {
	Good   *float64 `json:"good,omitempty"`
	Medium *float64 `json:"medium,omitempty"`
}
type BadgesChange struct {
	Visibility *string                           `json:"visibility,omitempty"`
	Token      *Nullable[any]                    `json:"token,omitempty"` // Removes the token
	Labels     *BadgesChangeLabels               `json:"labels,omitempty"`
	Colors     *Nullable[BadgesChangeColors]     `json:"colors,omitempty"`
	Thresholds *Nullable[BadgesChangeThresholds] `json:"thresholds,omitempty"`
}
type OrganizationChange struct {
	Name                  *string             `json:"name,omitempty"`
	HideMembers           *bool               `json:"hide_members,omitempty"`
	MemberVisibility      *string             `json:"member_visibility,omitempty"`       // `own`: developers see only their own sessions and figures
	RetentionSessionsDays *Nullable[int64]    `json:"retention_sessions_days,omitempty"` // Sessions are deleted after so many days; null: they are kept for ever
	ConfirmRetention      *bool               `json:"confirm_retention,omitempty"`       // true: the shorter retention that waits holds at once
	TimeZone              *string             `json:"time_zone,omitempty"`               // A name of IANA: days, weeks and months are those of the zone
	Badges                *BadgesChange       `json:"badges,omitempty"`
	TicketPattern         *Nullable[string]   `json:"ticket_pattern,omitempty"`
	TicketIgnore          *Nullable[[]string] `json:"ticket_ignore,omitempty"`
	BudgetAction          *string             `json:"budget_action,omitempty"` // The hook on laptops warns beyond a budget, or refuses prompts
	GithubSecret          *Nullable[string]   `json:"github_secret,omitempty"` // Write-only; null removes it
}
type BadgeToken struct {
	Token string `json:"token"` // Shown once; it replaces the token before
}
type BudgetsListParams struct {
	Project string `json:"project,omitempty"`  // Of this project
	Member  string `json:"member,omitempty"`   // Of this member: an id, or an address in any case
	Team    string `json:"team,omitempty"`     // Of this team
	Page    int64  `json:"page,omitempty"`     // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage int64  `json:"per_page,omitempty"` // Items on a page
	Include string `json:"include,omitempty"`  // `used`: also what is spent of each in the month
	Month   string `json:"month,omitempty"`    // The month of `used`, at most this one, which is the default
}
type ScopedBudget struct {
	Month string            `json:"month"` // YYYY-MM; in force until a later month has one of the same scope
	Limit float64           `json:"limit"` // US dollars
	Scope BudgetScope       `json:"scope"`
	Used  *ScopedBudgetUsed `json:"used"` // With `include=used`: what the month cost, and this month will; null for a limit that is not in force then, or whose cost the caller may not see
}
type ScopedBudgetPage = Page[ScopedBudget]
type BudgetsMineParams struct {
	Project string `json:"project,omitempty"` // The project that is worked on
}
type MyBudgets struct {
	Action  string            `json:"action"`  // What happens beyond a limit
	Budgets []MyBudgetsBudget `json:"budgets"` // Of the organization, the member, their team and the project, where they have one
}
type BudgetLimit struct {
	Limit float64 `json:"limit"`
}
type BudgetsSetParams struct {
	Limit   *float64 `json:"limit,omitempty"`
	Project string   `json:"project,omitempty"` // Of this project
	Member  string   `json:"member,omitempty"`  // Of this member: an id, or an address in any case
	Team    string   `json:"team,omitempty"`    // Of this team
}
type MonthBudget struct {
	Month string  `json:"month"` // YYYY-MM; in force until a later month has one of the same scope
	Limit float64 `json:"limit"` // US dollars
}
type BudgetsDeleteParams struct {
	Project string `json:"project,omitempty"` // Of this project
	Member  string `json:"member,omitempty"`  // Of this member: an id, or an address in any case
	Team    string `json:"team,omitempty"`    // Of this team
}
type PlansListParams struct {
	Vendor  string `json:"vendor,omitempty"`   // Only of this vendor
	Plan    string `json:"plan,omitempty"`     // Only of this plan
	Member  string `json:"member,omitempty"`   // Only of this member: an id, or an address in any case
	Page    int64  `json:"page,omitempty"`     // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage int64  `json:"per_page,omitempty"` // Items on a page
}
type Plan struct {
	ID              string   `json:"id"`
	Vendor          string   `json:"vendor"` // Who is paid
	Plan            string   `json:"plan"`
	Member          *string  `json:"member"`   // An id; null: seats of everybody without a plan of the vendor, or not shown
	Quantity        int64    `json:"quantity"` // Seats
	From            string   `json:"from"`
	To              *string  `json:"to"`               // Last day, inclusive; null: until further notice
	PriceMonth      float64  `json:"price_month"`      // Of one seat and month, in `currency`
	Currency        string   `json:"currency"`         // A code of ISO 4217
	UsdRate         *float64 `json:"usd_rate"`         // US dollars for one unit of the currency; required where it is not USD
	IncludedCredits *float64 `json:"included_credits"` // Credits of one seat and month
}
type PlanPage = Page[Plan]
type PlansCreateParams struct {
	Vendor          string   `json:"vendor,omitempty"`
	Plan            string   `json:"plan,omitempty"`
	Member          string   `json:"member,omitempty"`           // An id, or an address in any case; without it the seats are of everybody without a plan
	From            string   `json:"from,omitempty"`             // First day
	To              string   `json:"to,omitempty"`               // Last day, inclusive
	PriceMonth      *float64 `json:"price_month,omitempty"`      // Of one seat and month, in `currency`
	Quantity        int64    `json:"quantity,omitempty"`         // Seats
	Currency        string   `json:"currency,omitempty"`         // A code of ISO 4217
	UsdRate         *float64 `json:"usd_rate,omitempty"`         // US dollars for one unit of the currency; required where it is not USD
	IncludedCredits *float64 `json:"included_credits,omitempty"` // Credits of one seat and month
	Replace         *bool    `json:"replace,omitempty"`          // End the one that is in force (of the member and vendor, or these shared seats) the day before
}
type PlanChange struct {
	Vendor          *string            `json:"vendor,omitempty"`
	Plan            *string            `json:"plan,omitempty"`
	Member          *Nullable[string]  `json:"member,omitempty"`           // An id, or an address in any case; without it the seats are of everybody without a plan
	From            *string            `json:"from,omitempty"`             // First day
	To              *Nullable[string]  `json:"to,omitempty"`               // Last day, inclusive
	PriceMonth      *float64           `json:"price_month,omitempty"`      // Of one seat and month, in `currency`
	Quantity        *Nullable[int64]   `json:"quantity,omitempty"`         // Seats
	Currency        *Nullable[string]  `json:"currency,omitempty"`         // A code of ISO 4217
	UsdRate         *Nullable[float64] `json:"usd_rate,omitempty"`         // US dollars for one unit of the currency; required where it is not USD
	IncludedCredits *Nullable[float64] `json:"included_credits,omitempty"` // Credits of one seat and month
}
type SeatsListParams struct {
	DateFrom string `json:"date_from,omitempty"` // First day of the time zone, inclusive
	DateTo   string `json:"date_to,omitempty"`   // Last day of the time zone, inclusive
	Vendor   string `json:"vendor,omitempty"`    // Only of this vendor
	Plan     string `json:"plan,omitempty"`      // Only of this plan
	Member   string `json:"member,omitempty"`    // Only of this member: an id, or an address in any case
	Team     string `json:"team,omitempty"`      // Only what members of this team did, which they are in now; empty: of members in none, and of nobody
	Verdict  string `json:"verdict,omitempty"`   // Only with this verdict
	Page     int64  `json:"page,omitempty"`      // Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it
	PerPage  int64  `json:"per_page,omitempty"`  // Items on a page
}
type SeatLimit struct {
	Limit        string   `json:"limit"`
	Scope        *string  `json:"scope"` // The family of models that it is for; null: all
	PeakPercent  float64  `json:"peak_percent"`
	Windows      int64    `json:"windows"`       // Windows of the range of which something is known
	Hits         int64    `json:"hits"`          // Those in which the agent was refused
	HoursBlocked float64  `json:"hours_blocked"` // From the first hit of each window to its end, or the next call that succeeded
	Overage      bool     `json:"overage"`       // Whether work went on beyond the limit at a price
	Current      *float64 `json:"current"`       // Percent of the window that is not over
}

// SeatPool: The credits of all seats of the vendor’s plan.
type SeatPool struct {
	Credits float64  `json:"credits"`
	Used    *float64 `json:"used"` // Known for GitHub
	Percent *float64 `json:"percent"`
}
type Seat struct {
	Member        *string     `json:"member"` // An id; null: seats of everybody without a plan of the vendor, or not shown
	Vendor        string      `json:"vendor"` // Who is paid
	Plan          *string     `json:"plan"`   // null: calls that a plan paid of which none is known
	Quantity      int64       `json:"quantity"`
	From          *string     `json:"from"`
	To            *string     `json:"to"`          // Last day, inclusive; null: until further notice
	Paid          float64     `json:"paid"`        // US dollars for the days in force of the range
	Cost          float64     `json:"cost"`        // What the calls that the plan paid would have cost by the price list; never added to `paid`
	Ratio         *float64    `json:"ratio"`       // cost ÷ paid
	Sessions      int64       `json:"sessions"`    // Of this vendor, that began in the range
	ActiveDays    int64       `json:"active_days"` // Days with a call of this vendor
	LastActiveDay *string     `json:"last_active_day"`
	Limits        []SeatLimit `json:"limits"`
	Pool          *SeatPool   `json:"pool"` // The credits of all seats of the vendor’s plan
	Verdict       *string     `json:"verdict"`
}

// SeatTotal: It counts the seats of all pages.
type SeatTotal struct {
	Seats   int64   `json:"seats"` // Quantities of all seats
	Paid    float64 `json:"paid"`
	Cost    float64 `json:"cost"`
	Idle    int64   `json:"idle"`    // Seats of this verdict
	Low     int64   `json:"low"`     // Likewise
	Limited int64   `json:"limited"` // Likewise
}
type SeatPage struct {
	Page[Seat]
	Currency string    `json:"currency"`
	Total    SeatTotal `json:"total"`
}
type MySeatsPlan struct {
	Vendor string  `json:"vendor"` // Who is paid
	Plan   string  `json:"plan"`
	From   string  `json:"from"`
	To     *string `json:"to"` // Last day, inclusive; null: until further notice
}
type MySeats struct {
	Plans   []MySeatsPlan     `json:"plans"`
	Windows []AttentionWindow `json:"windows"` // Those that are not over
}
type AlertPage = Page[Alert]
type NewDestination struct {
	Type *string `json:"type,omitempty"` // webhook: every endpoint that subscribes to the event
	URL  *string `json:"url,omitempty"`  // Of Slack the address of an incoming webhook, of Teams that of a workflow; sent back as it is shown it stays
}
type NewAlert struct {
	Name            string           `json:"name"`
	Metric          string           `json:"metric"`
	Window          string           `json:"window"`          // The day, week (from Monday) or month of the time zone that is now
	Above           *float64         `json:"above,omitempty"` // Fires above it; one of `above`, `below` and `times` is there
	Below           *float64         `json:"below,omitempty"` // Fires below it
	Times           *float64         `json:"times,omitempty"` // Fires above this many times the median of the 14 windows before
	Destinations    []NewDestination `json:"destinations"`
	Each            string           `json:"each,omitempty"`
	NoData          string           `json:"no_data,omitempty"`          // What happens where the figure has no value
	RenotifyMinutes *int64           `json:"renotify_minutes,omitempty"` // Tells again after this time; null: once
	Enabled         *bool            `json:"enabled,omitempty"`
	Scope           *AlertScope      `json:"scope,omitempty"` // Whose figures; {}: those of the organization
}
type AlertChange struct {
	Name            *string           `json:"name,omitempty"`
	Metric          *string           `json:"metric,omitempty"`
	Window          *string           `json:"window,omitempty"` // The day, week (from Monday) or month of the time zone that is now
	Above           *float64          `json:"above,omitempty"`  // Fires above it; one of `above`, `below` and `times` is there
	Below           *float64          `json:"below,omitempty"`  // Fires below it
	Times           *float64          `json:"times,omitempty"`  // Fires above this many times the median of the 14 windows before
	Destinations    *[]NewDestination `json:"destinations,omitempty"`
	Each            *Nullable[string] `json:"each,omitempty"`
	NoData          *string           `json:"no_data,omitempty"`          // What happens where the figure has no value
	RenotifyMinutes *Nullable[int64]  `json:"renotify_minutes,omitempty"` // Tells again after this time; null: once
	Enabled         *bool             `json:"enabled,omitempty"`
	Scope           *AlertScope       `json:"scope,omitempty"` // Whose figures; {}: those of the organization
}
type NotificationTestResult struct {
	Type       string  `json:"type"`        // webhook: every endpoint that subscribes to the event
	Success    bool    `json:"success"`     // The receiver answered with 2xx
	StatusCode *int64  `json:"status_code"` // null: no answer
	Error      *string `json:"error"`
}
type NotificationTest struct {
	Results []NotificationTestResult `json:"results"` // Of each receiver
}
type NotificationDelivery struct {
	Delivery
	Test bool `json:"test"` // Whether it was only a test
}
type NotificationDeliveryPage = Page[NotificationDelivery]
type NotificationDeliveryDetailRequest struct {
	Body string `json:"body"` // What is sent, to the byte
}
type NotificationDeliveryDetail struct {
	ID             string                            `json:"id"` // Also in the header X-Service-Delivery
	Event          string                            `json:"event"`
	EventID        string                            `json:"event_id"`         // Also in the header webhook-id
	Status         string                            `json:"status"`           // pending: to be sent; pending_retry: failed, and sent again later; failed: given up; cancelled: its endpoint is gone
	Attempts       []Attempt                         `json:"attempts"`         // Those that have ended, from the first
	NextAttemptAt  *string                           `json:"next_attempt_at"`  // When it is sent next; null: it is finished, or an attempt is in flight
	LastStatusCode *int64                            `json:"last_status_code"` // Of the latest attempt; null: no answer
	CreatedAt      string                            `json:"created_at"`       // When the event happened
	CompletedAt    *string                           `json:"completed_at"`     // When it was finished
	Request        NotificationDeliveryDetailRequest `json:"request"`
	Test           bool                              `json:"test"` // Whether it was only a test
}
type Digest struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Weekday      string        `json:"weekday"` // Of the time zone; monday unless given
	Hour         int64         `json:"hour"`    // Of the time zone; 8 unless given
	Destinations []Destination `json:"destinations"`
	Enabled      bool          `json:"enabled"`
	LastSentAt   *string       `json:"last_sent_at"` // When it was last sent; null: never
}
type DigestPage = Page[Digest]
type NewDigest struct {
	Name         string           `json:"name"`
	Weekday      string           `json:"weekday,omitempty"` // Of the time zone; monday unless given
	Hour         *int64           `json:"hour,omitempty"`    // Of the time zone; 8 unless given
	Destinations []NewDestination `json:"destinations,omitempty"`
	Enabled      *bool            `json:"enabled,omitempty"`
}
type DigestChange struct {
	Name         *string           `json:"name,omitempty"`
	Weekday      *string           `json:"weekday,omitempty"` // Of the time zone; monday unless given
	Hour         *int64            `json:"hour,omitempty"`    // Of the time zone; 8 unless given
	Destinations *[]NewDestination `json:"destinations,omitempty"`
	Enabled      *bool             `json:"enabled,omitempty"`
}
type SessionCompletedEventData struct {
	SessionID    string  `json:"session_id"` // The session, as in `GET /v1/sessions/{id}`
	ProjectName  *string `json:"project_name"`
	QualityScore float64 `json:"quality_score"` // 0 to 100, at most 2 decimals
}
type QualityScoreChangedEventData struct {
	SessionID string  `json:"session_id"` // The session, as in `GET /v1/sessions/{id}`
	OldScore  float64 `json:"old_score"`  // The score that was stored
	NewScore  float64 `json:"new_score"`  // The score that is stored now
}
type SecurityAlertEventData struct {
	AlertID  string `json:"alert_id"` // The finding's id in its session
	Severity string `json:"severity"`
	Title    string `json:"title"`
}
type CostBudgetExceededEventData struct {
	BudgetID    string  `json:"budget_id"`    // The budget record in force
	CurrentCost float64 `json:"current_cost"` // The month's cost in US dollars, at most 6 decimals
	Limit       float64 `json:"limit"`        // The monthly limit in US dollars, at most 6 decimals
}
type TeamMemberJoinedEventData struct {
	UserID string `json:"user_id"`
	Email  string `json:"email"`
	Role   string `json:"role"`
}
type ComplianceReportReadyEventData struct {
	ReportID   string             `json:"report_id"`
	ReportType string             `json:"report_type"`
	DateRange  ExplanationAgainst `json:"date_range"` // UTC days, both inclusive
}
type AlertFiredEventDataTop struct {
	Key   *string `json:"key"` // A project, member or model
	Value float64 `json:"value"`
}
type AlertFiredEventData struct {
	AlertID   string                   `json:"alert_id"`
	Name      string                   `json:"name"`
	State     string                   `json:"state"`
	Metric    string                   `json:"metric"`
	Value     *float64                 `json:"value"`     // Null: there is no data
	Threshold float64                  `json:"threshold"` // What the value is compared with
	Window    string                   `json:"window"`
	Key       *string                  `json:"key"` // The project, member or team that it is about; null without `each`, and for what has none
	Top       []AlertFiredEventDataTop `json:"top"` // The three largest contributors
	Test      *bool                    `json:"test"`
}
type AlertResolvedEventData struct {
	AlertID   string                   `json:"alert_id"`
	Name      string                   `json:"name"`
	State     string                   `json:"state"`
	Metric    string                   `json:"metric"`
	Value     *float64                 `json:"value"`     // Null: there is no data
	Threshold float64                  `json:"threshold"` // What the value is compared with
	Window    string                   `json:"window"`
	Key       *string                  `json:"key"` // The project, member or team that it is about; null without `each`, and for what has none
	Top       []AlertFiredEventDataTop `json:"top"` // The three largest contributors
	Test      *bool                    `json:"test"`
}
type DigestReadyEventDataByModel struct {
	Key  *string `json:"key"`  // null: none
	Cost float64 `json:"cost"` // In US dollars
}
type DigestReadyEventDataBudget struct {
	Limit         float64 `json:"limit"`          // Of the month
	ProjectedCost float64 `json:"projected_cost"` // At the month's end
}
type DigestReadyEventDataPullRequests struct {
	Merged int64   `json:"merged"`
	Cost   float64 `json:"cost"` // Of the sessions that belong to them
}
type DigestReadyEventDataEffect struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Verdict string  `json:"verdict"`
	Effect  float64 `json:"effect"`
}
type DigestReadyEventData struct {
	DigestID       string                           `json:"digest_id"`
	From           string                           `json:"from"`
	To             string                           `json:"to"`            // Days of the organization’s time zone, both inclusive
	Cost           float64                          `json:"cost"`          // Of these days
	PreviousCost   float64                          `json:"previous_cost"` // Of the seven days before
	ByModel        []DigestReadyEventDataByModel    `json:"by_model"`
	ByProject      []DigestReadyEventDataByModel    `json:"by_project"`
	Budget         *DigestReadyEventDataBudget      `json:"budget"`
	PullRequests   DigestReadyEventDataPullRequests `json:"pull_requests"`
	AverageQuality *float64                         `json:"average_quality"` // Null: no sessions
	NewFindings    int64                            `json:"new_findings"`    // Findings of these days that were in no session before
	Effects        []DigestReadyEventDataEffect     `json:"effects"`         // Changes whose verdict has become `seen` or `moved` in these days
	Test           *bool                            `json:"test"`
}
type WebhookTestEventData struct {
	WebhookID string `json:"webhook_id"` // The endpoint that was tested
	Test      bool   `json:"test"`
	Message   string `json:"message"`
}
