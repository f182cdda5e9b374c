package cloudanalytics

// Made of the API's document by `bun run clients`; do not edit.

import "context"

// SessionsResource has the methods of sessions.
type SessionsResource struct{ core *core }

// List: list sessions. Scope: `sessions:read` or `read`.
func (r *SessionsResource) List(ctx context.Context, params *SessionsListParams) (*SessionPage, error) {
	return call[SessionPage](ctx, r.core, request{method: "GET", path: "/v1/sessions", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *SessionsResource) Iter(ctx context.Context, params *SessionsListParams) *Iter[Session] {
	return newIter[Session](ctx, r.core, request{method: "GET", path: "/v1/sessions", query: params})
}

// Get: one session in full. Scope: `sessions:read` or `read`.
func (r *SessionsResource) Get(ctx context.Context, sessionID string) (*SessionDetail, error) {
	return call[SessionDetail](ctx, r.core, request{method: "GET", path: path("/v1/sessions/{session_id}", sessionID)})
}

// Delete: delete a session. Scope: `write`.
func (r *SessionsResource) Delete(ctx context.Context, sessionID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/sessions/{session_id}", sessionID)})
	return err
}

// ProjectsResource has the methods of projects.
type ProjectsResource struct{ core *core }

// List: list the projects of sessions by name. Scope: `sessions:read` or `read`.
func (r *ProjectsResource) List(ctx context.Context, params *PageParams) (*SessionNamePage, error) {
	return call[SessionNamePage](ctx, r.core, request{method: "GET", path: "/v1/projects", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *ProjectsResource) Iter(ctx context.Context, params *PageParams) *Iter[SessionName] {
	return newIter[SessionName](ctx, r.core, request{method: "GET", path: "/v1/projects", query: params})
}

// ModelsResource has the methods of models.
type ModelsResource struct{ core *core }

// List: list the models of sessions by name. Scope: `sessions:read` or `read`.
func (r *ModelsResource) List(ctx context.Context, params *PageParams) (*SessionNamePage, error) {
	return call[SessionNamePage](ctx, r.core, request{method: "GET", path: "/v1/models", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *ModelsResource) Iter(ctx context.Context, params *PageParams) *Iter[SessionName] {
	return newIter[SessionName](ctx, r.core, request{method: "GET", path: "/v1/models", query: params})
}

// AgentsResource has the methods of agents.
type AgentsResource struct{ core *core }

// List: list the coding agents of sessions by name. Scope: `sessions:read` or `read`.
func (r *AgentsResource) List(ctx context.Context, params *PageParams) (*SessionNamePage, error) {
	return call[SessionNamePage](ctx, r.core, request{method: "GET", path: "/v1/agents", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *AgentsResource) Iter(ctx context.Context, params *PageParams) *Iter[SessionName] {
	return newIter[SessionName](ctx, r.core, request{method: "GET", path: "/v1/agents", query: params})
}

// QualityResource has the methods of quality.
type QualityResource struct{ core *core }

// Get: quality overview. Scope: `quality:read` or `read`.
func (r *QualityResource) Get(ctx context.Context, params *RangeParams) (*QualityOverview, error) {
	return call[QualityOverview](ctx, r.core, request{method: "GET", path: "/v1/quality", query: params})
}

// Trend: quality over time. Scope: `quality:read` or `read`.
func (r *QualityResource) Trend(ctx context.Context, params *TrendParams) (*QualityTrend, error) {
	return call[QualityTrend](ctx, r.core, request{method: "GET", path: "/v1/quality/trend", query: params})
}

// CostResource has the methods of cost.
type CostResource struct{ core *core }

// Get: cost summary. Scope: `cost:read` or `read`.
func (r *CostResource) Get(ctx context.Context, params *CostGetParams) (*CostSummary, error) {
	return call[CostSummary](ctx, r.core, request{method: "GET", path: "/v1/cost", query: params})
}

// Breakdown: cost and tokens by project, member, team, model, agent, branch or time. Scope: `cost:read` or `read`.
func (r *CostResource) Breakdown(ctx context.Context, params *CostBreakdownParams) (*Breakdown, error) {
	return call[Breakdown](ctx, r.core, request{method: "GET", path: "/v1/cost/breakdown", query: params})
}

// BreakdownIter iterates over the items of all pages, one request for each page.
func (r *CostResource) BreakdownIter(ctx context.Context, params *CostBreakdownParams) *Iter[BreakdownItem] {
	return newIter[BreakdownItem](ctx, r.core, request{method: "GET", path: "/v1/cost/breakdown", query: params})
}

// Explain: why cost changed: prompts, calls, models, tokens, prices. Scope: `cost:read` or `read`.
func (r *CostResource) Explain(ctx context.Context, params *CostExplainParams) (*Explanation, error) {
	return call[Explanation](ctx, r.core, request{method: "GET", path: "/v1/cost/explain", query: params})
}

// ExplainIter iterates over the items of all pages, one request for each page.
func (r *CostResource) ExplainIter(ctx context.Context, params *CostExplainParams) *Iter[ExplainedKey] {
	return newIter[ExplainedKey](ctx, r.core, request{method: "GET", path: "/v1/cost/explain", query: params})
}

// FirstDays: list keys in the order of their first appearance, by which charts colour them. Scope: `cost:read` or `read`.
func (r *CostResource) FirstDays(ctx context.Context, params *CostFirstDaysParams) (*FirstDays, error) {
	return call[FirstDays](ctx, r.core, request{method: "GET", path: "/v1/cost/first-days", query: params})
}

// PriceGuess: guess the price of a model without a known one. Scope: `cost:read` or `read`.
func (r *CostResource) PriceGuess(ctx context.Context, params *CostPriceGuessParams) (*PriceGuess, error) {
	return call[PriceGuess](ctx, r.core, request{method: "GET", path: "/v1/cost/price-guess", query: params})
}

// Trend: cost over time. Scope: `cost:read` or `read`.
func (r *CostResource) Trend(ctx context.Context, params *CostTrendParams) (*CostTrend, error) {
	return call[CostTrend](ctx, r.core, request{method: "GET", path: "/v1/cost/trend", query: params})
}

// EffectsResource has the methods of effects.
type EffectsResource struct{ core *core }

// List: list the changes of how the organization works, and what each made of its cost. Scope: `cost:read` or `read`.
func (r *EffectsResource) List(ctx context.Context, params *EffectsListParams) (*EffectPage, error) {
	return call[EffectPage](ctx, r.core, request{method: "GET", path: "/v1/effects", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *EffectsResource) Iter(ctx context.Context, params *EffectsListParams) *Iter[Effect] {
	return newIter[Effect](ctx, r.core, request{method: "GET", path: "/v1/effects", query: params})
}

// Get: one change, and what it made. Scope: `cost:read` or `read`.
func (r *EffectsResource) Get(ctx context.Context, effectID string, params *EffectsGetParams) (*Effect, error) {
	return call[Effect](ctx, r.core, request{method: "GET", path: path("/v1/effects/{effect_id}", effectID), query: params})
}

// Create: record a change, or have days assigned by a draw. Scope: `admin`.
func (r *EffectsResource) Create(ctx context.Context, params *NewEffect, options ...RequestOption) (*Effect, error) {
	return call[Effect](ctx, r.core, request{method: "POST", path: "/v1/effects", body: params, options: options})
}

// Update: rename a change, or dismiss it. Scope: `admin`.
func (r *EffectsResource) Update(ctx context.Context, effectID string, params *EffectUpdate) (*Effect, error) {
	return call[Effect](ctx, r.core, request{method: "PATCH", path: path("/v1/effects/{effect_id}", effectID), body: params})
}

// Delete: remove a recorded or assigned change; a noticed one is dismissed instead. Scope: `admin`.
func (r *EffectsResource) Delete(ctx context.Context, effectID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/effects/{effect_id}", effectID)})
	return err
}

// Arm: the arm of the caller on a day: whether the change is on. Scope: `sessions:write` or `write` or `cost:read` or `read`.
func (r *EffectsResource) Arm(ctx context.Context, effectID string, params *EffectsArmParams) (*Arm, error) {
	return call[Arm](ctx, r.core, request{method: "GET", path: path("/v1/effects/{effect_id}/arm", effectID), query: params})
}

// NotesResource has the methods of notes.
type NotesResource struct{ core *core }

// List: list the notes of days, the newest days first. Scope: `admin` or `cost:read` or `read`.
func (r *NotesResource) List(ctx context.Context, params *NotesListParams) (*NotePage, error) {
	return call[NotePage](ctx, r.core, request{method: "GET", path: "/v1/notes", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *NotesResource) Iter(ctx context.Context, params *NotesListParams) *Iter[Note] {
	return newIter[Note](ctx, r.core, request{method: "GET", path: "/v1/notes", query: params})
}

// Create: add a note to a day. Scope: `admin`.
func (r *NotesResource) Create(ctx context.Context, params *NewNote, options ...RequestOption) (*Note, error) {
	return call[Note](ctx, r.core, request{method: "POST", path: "/v1/notes", body: params, options: options})
}

// Delete: remove the note. Scope: `admin`.
func (r *NotesResource) Delete(ctx context.Context, noteID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/notes/{note_id}", noteID)})
	return err
}

// SecurityResource has the methods of security.
type SecurityResource struct{ core *core }

// Get: security overview. Scope: `security:read` or `read`.
func (r *SecurityResource) Get(ctx context.Context, params *RangeParams) (*SecurityOverview, error) {
	return call[SecurityOverview](ctx, r.core, request{method: "GET", path: "/v1/security", query: params})
}

// Heatmap: risk by file. Scope: `security:read` or `read`.
func (r *SecurityResource) Heatmap(ctx context.Context, params *SecurityHeatmapParams) (*Heatmap, error) {
	return call[Heatmap](ctx, r.core, request{method: "GET", path: "/v1/security/heatmap", query: params})
}

// HeatmapIter iterates over the items of all pages, one request for each page.
func (r *SecurityResource) HeatmapIter(ctx context.Context, params *SecurityHeatmapParams) *Iter[HeatmapFile] {
	return newIter[HeatmapFile](ctx, r.core, request{method: "GET", path: "/v1/security/heatmap", query: params})
}

// FindingsResource has the methods of findings.
type FindingsResource struct{ core *core }

// List: list findings, those of the newest sessions or the most severe first. Scope: `security:read` or `read`.
func (r *FindingsResource) List(ctx context.Context, params *FindingsListParams) (*ListedFindingPage, error) {
	return call[ListedFindingPage](ctx, r.core, request{method: "GET", path: "/v1/findings", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *FindingsResource) Iter(ctx context.Context, params *FindingsListParams) *Iter[ListedFinding] {
	return newIter[ListedFinding](ctx, r.core, request{method: "GET", path: "/v1/findings", query: params})
}

// Update: decide about a finding: fixed, accepted, dismissed, or open again; assign it. Scope: `admin` or `security:read` or `read`.
func (r *FindingsResource) Update(ctx context.Context, findingID string, params *FindingChange) (*ListedFinding, error) {
	return call[ListedFinding](ctx, r.core, request{method: "PATCH", path: path("/v1/findings/{finding_id}", findingID), body: params})
}

// AuditResource has the methods of audit.
type AuditResource struct{ core *core }

// List: list the audit log, newest first. Scope: `audit:read` or `read`.
func (r *AuditResource) List(ctx context.Context, params *AuditListParams) (*AuditEntryPage, error) {
	return call[AuditEntryPage](ctx, r.core, request{method: "GET", path: "/v1/audit", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *AuditResource) Iter(ctx context.Context, params *AuditListParams) *Iter[AuditEntry] {
	return newIter[AuditEntry](ctx, r.core, request{method: "GET", path: "/v1/audit", query: params})
}

// Report: the audit log as a report, page by page. Scope: `audit:read` or `read`.
func (r *AuditResource) Report(ctx context.Context, params *AuditReportParams) (*AuditReport, error) {
	return call[AuditReport](ctx, r.core, request{method: "GET", path: "/v1/audit/report", query: params})
}

// TeamResource has the methods of team.
type TeamResource struct{ core *core }

// Get: members and their activity. Scope: `team:read` or `read`.
func (r *TeamResource) Get(ctx context.Context) (*TeamOverview, error) {
	return call[TeamOverview](ctx, r.core, request{method: "GET", path: "/v1/team"})
}

// Expertise: who knows which part of the code, or a file. Scope: `team:read` or `read`.
func (r *TeamResource) Expertise(ctx context.Context, params *TeamExpertiseParams) (*Expertise, error) {
	return call[Expertise](ctx, r.core, request{method: "GET", path: "/v1/team/expertise", query: params})
}

// Machines: list the machines that send records, the one seen last first. Scope: `team:read` or `read`.
func (r *TeamResource) Machines(ctx context.Context, params *PageParams) (*MachinePage, error) {
	return call[MachinePage](ctx, r.core, request{method: "GET", path: "/v1/team/machines", query: params})
}

// MachinesIter iterates over the items of all pages, one request for each page.
func (r *TeamResource) MachinesIter(ctx context.Context, params *PageParams) *Iter[Machine] {
	return newIter[Machine](ctx, r.core, request{method: "GET", path: "/v1/team/machines", query: params})
}

// Coverage: how much of the sessions transcripts and telemetry tell, by member and agent. Scope: `team:read` or `read`.
func (r *TeamResource) Coverage(ctx context.Context, params *PageParams) (*CoveragePage, error) {
	return call[CoveragePage](ctx, r.core, request{method: "GET", path: "/v1/team/coverage", query: params})
}

// CoverageIter iterates over the items of all pages, one request for each page.
func (r *TeamResource) CoverageIter(ctx context.Context, params *PageParams) *Iter[Coverage] {
	return newIter[Coverage](ctx, r.core, request{method: "GET", path: "/v1/team/coverage", query: params})
}

// RiskResource has the methods of risk.
type RiskResource struct{ core *core }

// List: list risk scores of pull requests, newest first. Scope: `risk:read` or `read`.
func (r *RiskResource) List(ctx context.Context, params *RiskListParams) (*RiskScorePage, error) {
	return call[RiskScorePage](ctx, r.core, request{method: "GET", path: "/v1/risk", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *RiskResource) Iter(ctx context.Context, params *RiskListParams) *Iter[RiskScore] {
	return newIter[RiskScore](ctx, r.core, request{method: "GET", path: "/v1/risk", query: params})
}

// Get: one risk score, with the sessions that worked on the pull request. Scope: `risk:read` or `read`.
func (r *RiskResource) Get(ctx context.Context, prID string) (*RiskDetail, error) {
	return call[RiskDetail](ctx, r.core, request{method: "GET", path: path("/v1/risk/{pr_id}", prID)})
}

// OutcomesResource has the methods of outcomes.
type OutcomesResource struct{ core *core }

// List: what came of it: pull requests, their cost, agents’ lines and what is left of them. Scope: `cost:read` and `risk:read` or `read`.
func (r *OutcomesResource) List(ctx context.Context, params *OutcomesListParams) (*Outcomes, error) {
	return call[Outcomes](ctx, r.core, request{method: "GET", path: "/v1/outcomes", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *OutcomesResource) Iter(ctx context.Context, params *OutcomesListParams) *Iter[Outcome] {
	return newIter[Outcome](ctx, r.core, request{method: "GET", path: "/v1/outcomes", query: params})
}

// WebhooksResource has the methods of webhooks.
type WebhooksResource struct {
	core       *core
	Deliveries *WebhooksDeliveriesResource
}

// List: list webhook endpoints, oldest first. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) List(ctx context.Context, params *NoParams) (*WebhookEndpointList, error) {
	return call[WebhookEndpointList](ctx, r.core, request{method: "GET", path: "/v1/webhooks", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *WebhooksResource) Iter(ctx context.Context, params *NoParams) *Iter[WebhookEndpoint] {
	return newIter[WebhookEndpoint](ctx, r.core, request{method: "GET", path: "/v1/webhooks", query: params})
}

// Create: add a webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Create(ctx context.Context, params *NewWebhookEndpoint, options ...RequestOption) (*CreatedWebhookEndpoint, error) {
	return call[CreatedWebhookEndpoint](ctx, r.core, request{method: "POST", path: "/v1/webhooks", body: params, options: options})
}

// Get: one webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Get(ctx context.Context, webhookID string) (*WebhookEndpoint, error) {
	return call[WebhookEndpoint](ctx, r.core, request{method: "GET", path: path("/v1/webhooks/{webhook_id}", webhookID)})
}

// Update: change a webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Update(ctx context.Context, webhookID string, params *WebhookEndpointChange) (*WebhookEndpoint, error) {
	return call[WebhookEndpoint](ctx, r.core, request{method: "PATCH", path: path("/v1/webhooks/{webhook_id}", webhookID), body: params})
}

// Delete: remove a webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Delete(ctx context.Context, webhookID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/webhooks/{webhook_id}", webhookID)})
	return err
}

// RotateSecret: replace the signing secret. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) RotateSecret(ctx context.Context, webhookID string, params *SecretRotation) (*RotatedSecret, error) {
	return call[RotatedSecret](ctx, r.core, request{method: "POST", path: path("/v1/webhooks/{webhook_id}/rotate-secret", webhookID), body: params})
}

// Test: send a test event now. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Test(ctx context.Context, webhookID string, params *WebhookTest) (*WebhookTestResult, error) {
	return call[WebhookTestResult](ctx, r.core, request{method: "POST", path: path("/v1/webhooks/{webhook_id}/test", webhookID), body: params})
}

// Recover: send all failed deliveries of a time again. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Recover(ctx context.Context, webhookID string, params *Recovery) (*RecoveryResult, error) {
	return call[RecoveryResult](ctx, r.core, request{method: "POST", path: path("/v1/webhooks/{webhook_id}/recover", webhookID), body: params})
}

// Retry: send all deliveries that wait for a retry now. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Retry(ctx context.Context, webhookID string) (*RecoveryResult, error) {
	return call[RecoveryResult](ctx, r.core, request{method: "POST", path: path("/v1/webhooks/{webhook_id}/retry", webhookID)})
}

// Events: the events there are. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksResource) Events(ctx context.Context) (*EventCatalogue, error) {
	return call[EventCatalogue](ctx, r.core, request{method: "GET", path: "/v1/webhooks/events"})
}

// WebhooksDeliveriesResource has the methods of webhooks.deliveries.
type WebhooksDeliveriesResource struct{ core *core }

// List: list deliveries of an endpoint, newest first. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksDeliveriesResource) List(ctx context.Context, webhookID string, params *WebhooksDeliveriesListParams) (*DeliveryPage, error) {
	return call[DeliveryPage](ctx, r.core, request{method: "GET", path: path("/v1/webhooks/{webhook_id}/deliveries", webhookID), query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *WebhooksDeliveriesResource) Iter(ctx context.Context, webhookID string, params *WebhooksDeliveriesListParams) *Iter[Delivery] {
	return newIter[Delivery](ctx, r.core, request{method: "GET", path: path("/v1/webhooks/{webhook_id}/deliveries", webhookID), query: params})
}

// Get: one delivery with its request and attempts. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksDeliveriesResource) Get(ctx context.Context, webhookID string, deliveryID string) (*DeliveryDetail, error) {
	return call[DeliveryDetail](ctx, r.core, request{method: "GET", path: path("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}", webhookID, deliveryID)})
}

// Redeliver: send a delivery again. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.
func (r *WebhooksDeliveriesResource) Redeliver(ctx context.Context, webhookID string, deliveryID string) (*Delivery, error) {
	return call[Delivery](ctx, r.core, request{method: "POST", path: path("/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", webhookID, deliveryID)})
}

// BadgesResource has the methods of badges.
type BadgesResource struct{ core *core }

// Quality: quality badge.
func (r *BadgesResource) Quality(ctx context.Context, orgSlug string, params *BadgeParams) (string, error) {
	return callText(ctx, r.core, request{method: "GET", path: path("/api/badge/{org_slug}/quality", orgSlug), query: params})
}

// Security: security badge.
func (r *BadgesResource) Security(ctx context.Context, orgSlug string, params *BadgeParams) (string, error) {
	return callText(ctx, r.core, request{method: "GET", path: path("/api/badge/{org_slug}/security", orgSlug), query: params})
}

// Cost: cost badge.
func (r *BadgesResource) Cost(ctx context.Context, orgSlug string, params *BadgeParams) (string, error) {
	return callText(ctx, r.core, request{method: "GET", path: path("/api/badge/{org_slug}/cost", orgSlug), query: params})
}

// QualityJSON: quality badge, as shields.io reads it.
func (r *BadgesResource) QualityJSON(ctx context.Context, orgSlug string, params *BadgeParams) (*ShieldsBadge, error) {
	return call[ShieldsBadge](ctx, r.core, request{method: "GET", path: path("/api/badge/{org_slug}/quality.json", orgSlug), query: params})
}

// SecurityJSON: security badge, as shields.io reads it.
func (r *BadgesResource) SecurityJSON(ctx context.Context, orgSlug string, params *BadgeParams) (*ShieldsBadge, error) {
	return call[ShieldsBadge](ctx, r.core, request{method: "GET", path: path("/api/badge/{org_slug}/security.json", orgSlug), query: params})
}

// CostJSON: cost badge, as shields.io reads it.
func (r *BadgesResource) CostJSON(ctx context.Context, orgSlug string, params *BadgeParams) (*ShieldsBadge, error) {
	return call[ShieldsBadge](ctx, r.core, request{method: "GET", path: path("/api/badge/{org_slug}/cost.json", orgSlug), query: params})
}

// ServiceResource has the methods of service.
type ServiceResource struct{ core *core }

// Health: whether the service can do its work.
func (r *ServiceResource) Health(ctx context.Context) (*Health, error) {
	return call[Health](ctx, r.core, request{method: "GET", path: "/health", answers503: true})
}

// Ready: whether requests should be sent to this instance.
func (r *ServiceResource) Ready(ctx context.Context) (*Readiness, error) {
	return call[Readiness](ctx, r.core, request{method: "GET", path: "/ready", answers503: true})
}

// Live: whether the process serves.
func (r *ServiceResource) Live(ctx context.Context) (*Liveness, error) {
	return call[Liveness](ctx, r.core, request{method: "GET", path: "/live"})
}

// Server: version, last backup and disk of a server that has one organization. Scope: `admin`.
func (r *ServiceResource) Server(ctx context.Context) (*Server, error) {
	return call[Server](ctx, r.core, request{method: "GET", path: "/v1/server"})
}

// KeysResource has the methods of keys.
type KeysResource struct{ core *core }

// List: list the API keys, newest first. Scope: `admin`, or a developer who signed in.
func (r *KeysResource) List(ctx context.Context, params *PageParams) (*APIKeyPage, error) {
	return call[APIKeyPage](ctx, r.core, request{method: "GET", path: "/v1/keys", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *KeysResource) Iter(ctx context.Context, params *PageParams) *Iter[APIKey] {
	return newIter[APIKey](ctx, r.core, request{method: "GET", path: "/v1/keys", query: params})
}

// Create: make an API key. Scope: `admin`, or a developer who signed in.
func (r *KeysResource) Create(ctx context.Context, params *NewAPIKey) (*CreatedAPIKey, error) {
	return call[CreatedAPIKey](ctx, r.core, request{method: "POST", path: "/v1/keys", body: params})
}

// Get: one API key. Scope: `admin`, or a developer who signed in.
func (r *KeysResource) Get(ctx context.Context, keyID string) (*APIKey, error) {
	return call[APIKey](ctx, r.core, request{method: "GET", path: path("/v1/keys/{key_id}", keyID)})
}

// Rotate: replace an API key. Scope: `admin`, or a developer who signed in.
func (r *KeysResource) Rotate(ctx context.Context, keyID string, params *APIKeyRotation) (*CreatedAPIKey, error) {
	return call[CreatedAPIKey](ctx, r.core, request{method: "POST", path: path("/v1/keys/{key_id}/rotate", keyID), body: params})
}

// Revoke: revoke an API key. Scope: `admin`, or a developer who signed in.
func (r *KeysResource) Revoke(ctx context.Context, keyID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/keys/{key_id}", keyID)})
	return err
}

// MembersResource has the methods of members.
type MembersResource struct{ core *core }

// List: list the members, the first to join first. Scope: `admin`.
func (r *MembersResource) List(ctx context.Context, params *MembersListParams) (*MemberPage, error) {
	return call[MemberPage](ctx, r.core, request{method: "GET", path: "/v1/members", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *MembersResource) Iter(ctx context.Context, params *MembersListParams) *Iter[Member] {
	return newIter[Member](ctx, r.core, request{method: "GET", path: "/v1/members", query: params})
}

// Create: add a member. Scope: `admin`.
func (r *MembersResource) Create(ctx context.Context, params *NewMember) (*Member, error) {
	return call[Member](ctx, r.core, request{method: "POST", path: "/v1/members", body: params})
}

// Update: change a member. Scope: `admin`.
func (r *MembersResource) Update(ctx context.Context, userID string, params *MemberChange) (*Member, error) {
	return call[Member](ctx, r.core, request{method: "PATCH", path: path("/v1/members/{user_id}", userID), body: params})
}

// Delete: remove a member. Scope: `admin`.
func (r *MembersResource) Delete(ctx context.Context, userID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/members/{user_id}", userID)})
	return err
}

// Invite: make a link by which a member sets a password. Scope: `admin`.
func (r *MembersResource) Invite(ctx context.Context, userID string) (*Invitation, error) {
	return call[Invitation](ctx, r.core, request{method: "POST", path: path("/v1/members/{user_id}/invitation", userID)})
}

// InviteMany: make links for up to 200 people. Scope: `admin`.
func (r *MembersResource) InviteMany(ctx context.Context, params *NewInvitations) (*Invitations, error) {
	return call[Invitations](ctx, r.core, request{method: "POST", path: "/v1/members/invitations", body: params})
}

// OrganizationResource has the methods of organization.
type OrganizationResource struct{ core *core }

// Get: the organization’s settings. Scope: `admin` or `read`.
func (r *OrganizationResource) Get(ctx context.Context) (*OrganizationSettings, error) {
	return call[OrganizationSettings](ctx, r.core, request{method: "GET", path: "/v1/organization"})
}

// Update: change the organization’s settings. Scope: `admin`.
func (r *OrganizationResource) Update(ctx context.Context, params *OrganizationChange) (*OrganizationSettings, error) {
	return call[OrganizationSettings](ctx, r.core, request{method: "PATCH", path: "/v1/organization", body: params})
}

// NewBadgeToken: make a new token for private badges. Scope: `admin`.
func (r *OrganizationResource) NewBadgeToken(ctx context.Context) (*BadgeToken, error) {
	return call[BadgeToken](ctx, r.core, request{method: "POST", path: "/v1/organization/badge-token"})
}

// BudgetsResource has the methods of budgets.
type BudgetsResource struct{ core *core }

// List: list the monthly limits, newest first. Scope: `admin` or `cost:read` or `read`.
func (r *BudgetsResource) List(ctx context.Context, params *BudgetsListParams) (*ScopedBudgetPage, error) {
	return call[ScopedBudgetPage](ctx, r.core, request{method: "GET", path: "/v1/budgets", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *BudgetsResource) Iter(ctx context.Context, params *BudgetsListParams) *Iter[ScopedBudget] {
	return newIter[ScopedBudget](ctx, r.core, request{method: "GET", path: "/v1/budgets", query: params})
}

// Mine: this month’s budgets of who works on a project. Scope: `sessions:write` or `write` or `cost:read` or `read`.
func (r *BudgetsResource) Mine(ctx context.Context, params *BudgetsMineParams) (*MyBudgets, error) {
	return call[MyBudgets](ctx, r.core, request{method: "GET", path: "/v1/budgets/mine", query: params})
}

// Set: set the limit from a month on. Scope: `admin`.
func (r *BudgetsResource) Set(ctx context.Context, month string, params *BudgetsSetParams) (*MonthBudget, error) {
	return call[MonthBudget](ctx, r.core, request{method: "PUT", path: path("/v1/budgets/{month}", month), query: params, body: params})
}

// Delete: delete the limit of a month. Scope: `admin`.
func (r *BudgetsResource) Delete(ctx context.Context, month string, params *BudgetsDeleteParams) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/budgets/{month}", month), query: params})
	return err
}

// PlansResource has the methods of plans.
type PlansResource struct{ core *core }

// List: list the plans, those that began last first. Scope: `admin`.
func (r *PlansResource) List(ctx context.Context, params *PlansListParams) (*PlanPage, error) {
	return call[PlanPage](ctx, r.core, request{method: "GET", path: "/v1/plans", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *PlansResource) Iter(ctx context.Context, params *PlansListParams) *Iter[Plan] {
	return newIter[Plan](ctx, r.core, request{method: "GET", path: "/v1/plans", query: params})
}

// Create: add a plan. Scope: `admin`.
func (r *PlansResource) Create(ctx context.Context, params *PlansCreateParams) (*Plan, error) {
	return call[Plan](ctx, r.core, request{method: "POST", path: "/v1/plans", query: params, body: params})
}

// Update: change the fields of the plan that are given. Scope: `admin`.
func (r *PlansResource) Update(ctx context.Context, planID string, params *PlanChange) (*Plan, error) {
	return call[Plan](ctx, r.core, request{method: "PATCH", path: path("/v1/plans/{plan_id}", planID), body: params})
}

// Delete: remove a plan as if it had never been paid. Scope: `admin`.
func (r *PlansResource) Delete(ctx context.Context, planID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/plans/{plan_id}", planID)})
	return err
}

// SeatsResource has the methods of seats.
type SeatsResource struct{ core *core }

// List: list seats: what they cost, and what the same work would have cost by the price list. Scope: `admin`.
func (r *SeatsResource) List(ctx context.Context, params *SeatsListParams) (*SeatPage, error) {
	return call[SeatPage](ctx, r.core, request{method: "GET", path: "/v1/seats", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *SeatsResource) Iter(ctx context.Context, params *SeatsListParams) *Iter[Seat] {
	return newIter[Seat](ctx, r.core, request{method: "GET", path: "/v1/seats", query: params})
}

// Mine: one’s own plans and limits. Scope: `sessions:write` or `write` or `cost:read` or `read`.
func (r *SeatsResource) Mine(ctx context.Context) (*MySeats, error) {
	return call[MySeats](ctx, r.core, request{method: "GET", path: "/v1/seats/mine"})
}

// AlertsResource has the methods of alerts.
type AlertsResource struct {
	core       *core
	Deliveries *AlertsDeliveriesResource
}

// List: list alerts, oldest first. Scope: `admin` or `cost:read` or `read`.
func (r *AlertsResource) List(ctx context.Context, params *PageParams) (*AlertPage, error) {
	return call[AlertPage](ctx, r.core, request{method: "GET", path: "/v1/alerts", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *AlertsResource) Iter(ctx context.Context, params *PageParams) *Iter[Alert] {
	return newIter[Alert](ctx, r.core, request{method: "GET", path: "/v1/alerts", query: params})
}

// Create: add an alert. Scope: `admin`.
func (r *AlertsResource) Create(ctx context.Context, params *NewAlert, options ...RequestOption) (*Alert, error) {
	return call[Alert](ctx, r.core, request{method: "POST", path: "/v1/alerts", body: params, options: options})
}

// Get: one alert, with all that is known of it. Scope: `admin` or `cost:read` or `read`.
func (r *AlertsResource) Get(ctx context.Context, alertID string) (*Alert, error) {
	return call[Alert](ctx, r.core, request{method: "GET", path: path("/v1/alerts/{alert_id}", alertID)})
}

// Update: change the fields of the alert that are given. Scope: `admin`.
func (r *AlertsResource) Update(ctx context.Context, alertID string, params *AlertChange) (*Alert, error) {
	return call[Alert](ctx, r.core, request{method: "PATCH", path: path("/v1/alerts/{alert_id}", alertID), body: params})
}

// Delete: remove the alert; what waits for Slack and Teams is cancelled. Scope: `admin`.
func (r *AlertsResource) Delete(ctx context.Context, alertID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/alerts/{alert_id}", alertID)})
	return err
}

// Test: send an example of the alert to its destinations now. Scope: `admin`.
func (r *AlertsResource) Test(ctx context.Context, alertID string) (*NotificationTest, error) {
	return call[NotificationTest](ctx, r.core, request{method: "POST", path: path("/v1/alerts/{alert_id}/test", alertID)})
}

// AlertsDeliveriesResource has the methods of alerts.deliveries.
type AlertsDeliveriesResource struct{ core *core }

// List: list what was sent of the alert, newest first. Scope: `admin` or `cost:read` or `read`.
func (r *AlertsDeliveriesResource) List(ctx context.Context, alertID string, params *WebhooksDeliveriesListParams) (*NotificationDeliveryPage, error) {
	return call[NotificationDeliveryPage](ctx, r.core, request{method: "GET", path: path("/v1/alerts/{alert_id}/deliveries", alertID), query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *AlertsDeliveriesResource) Iter(ctx context.Context, alertID string, params *WebhooksDeliveriesListParams) *Iter[NotificationDelivery] {
	return newIter[NotificationDelivery](ctx, r.core, request{method: "GET", path: path("/v1/alerts/{alert_id}/deliveries", alertID), query: params})
}

// Get: one delivery with its body and attempts. Scope: `admin` or `cost:read` or `read`.
func (r *AlertsDeliveriesResource) Get(ctx context.Context, alertID string, deliveryID string) (*NotificationDeliveryDetail, error) {
	return call[NotificationDeliveryDetail](ctx, r.core, request{method: "GET", path: path("/v1/alerts/{alert_id}/deliveries/{delivery_id}", alertID, deliveryID)})
}

// Redeliver: send a delivery again, as that of a webhook. Scope: `admin`.
func (r *AlertsDeliveriesResource) Redeliver(ctx context.Context, alertID string, deliveryID string) (*NotificationDelivery, error) {
	return call[NotificationDelivery](ctx, r.core, request{method: "POST", path: path("/v1/alerts/{alert_id}/deliveries/{delivery_id}/redeliver", alertID, deliveryID)})
}

// DigestsResource has the methods of digests.
type DigestsResource struct {
	core       *core
	Deliveries *DigestsDeliveriesResource
}

// List: list digests, oldest first. Scope: `admin` or `cost:read` or `read`.
func (r *DigestsResource) List(ctx context.Context, params *PageParams) (*DigestPage, error) {
	return call[DigestPage](ctx, r.core, request{method: "GET", path: "/v1/digests", query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *DigestsResource) Iter(ctx context.Context, params *PageParams) *Iter[Digest] {
	return newIter[Digest](ctx, r.core, request{method: "GET", path: "/v1/digests", query: params})
}

// Create: add a digest. Scope: `admin`.
func (r *DigestsResource) Create(ctx context.Context, params *NewDigest, options ...RequestOption) (*Digest, error) {
	return call[Digest](ctx, r.core, request{method: "POST", path: "/v1/digests", body: params, options: options})
}

// Get: one digest, with all that is known of it. Scope: `admin` or `cost:read` or `read`.
func (r *DigestsResource) Get(ctx context.Context, digestID string) (*Digest, error) {
	return call[Digest](ctx, r.core, request{method: "GET", path: path("/v1/digests/{digest_id}", digestID)})
}

// Update: change the fields of the digest that are given. Scope: `admin`.
func (r *DigestsResource) Update(ctx context.Context, digestID string, params *DigestChange) (*Digest, error) {
	return call[Digest](ctx, r.core, request{method: "PATCH", path: path("/v1/digests/{digest_id}", digestID), body: params})
}

// Delete: remove the digest; what waits for Slack and Teams is cancelled. Scope: `admin`.
func (r *DigestsResource) Delete(ctx context.Context, digestID string) error {
	_, err := call[struct{}](ctx, r.core, request{method: "DELETE", path: path("/v1/digests/{digest_id}", digestID)})
	return err
}

// Test: send an example of the digest to its destinations now. Scope: `admin`.
func (r *DigestsResource) Test(ctx context.Context, digestID string) (*NotificationTest, error) {
	return call[NotificationTest](ctx, r.core, request{method: "POST", path: path("/v1/digests/{digest_id}/test", digestID)})
}

// DigestsDeliveriesResource has the methods of digests.deliveries.
type DigestsDeliveriesResource struct{ core *core }

// List: list what was sent of the digest, newest first. Scope: `admin` or `cost:read` or `read`.
func (r *DigestsDeliveriesResource) List(ctx context.Context, digestID string, params *WebhooksDeliveriesListParams) (*NotificationDeliveryPage, error) {
	return call[NotificationDeliveryPage](ctx, r.core, request{method: "GET", path: path("/v1/digests/{digest_id}/deliveries", digestID), query: params})
}

// Iter iterates over the items of all pages, one request for each page.
func (r *DigestsDeliveriesResource) Iter(ctx context.Context, digestID string, params *WebhooksDeliveriesListParams) *Iter[NotificationDelivery] {
	return newIter[NotificationDelivery](ctx, r.core, request{method: "GET", path: path("/v1/digests/{digest_id}/deliveries", digestID), query: params})
}

// Get: one delivery with its body and attempts. Scope: `admin` or `cost:read` or `read`.
func (r *DigestsDeliveriesResource) Get(ctx context.Context, digestID string, deliveryID string) (*NotificationDeliveryDetail, error) {
	return call[NotificationDeliveryDetail](ctx, r.core, request{method: "GET", path: path("/v1/digests/{digest_id}/deliveries/{delivery_id}", digestID, deliveryID)})
}

// Redeliver: send a delivery again, as that of a webhook. Scope: `admin`.
func (r *DigestsDeliveriesResource) Redeliver(ctx context.Context, digestID string, deliveryID string) (*NotificationDelivery, error) {
	return call[NotificationDelivery](ctx, r.core, request{method: "POST", path: path("/v1/digests/{digest_id}/deliveries/{delivery_id}/redeliver", digestID, deliveryID)})
}

// Resources are the methods and resources of a Client.
type Resources struct {
	core         *core
	Sessions     *SessionsResource
	Projects     *ProjectsResource
	Models       *ModelsResource
	Agents       *AgentsResource
	Quality      *QualityResource
	Cost         *CostResource
	Effects      *EffectsResource
	Notes        *NotesResource
	Security     *SecurityResource
	Findings     *FindingsResource
	Audit        *AuditResource
	Team         *TeamResource
	Risk         *RiskResource
	Outcomes     *OutcomesResource
	Webhooks     *WebhooksResource
	Badges       *BadgesResource
	Service      *ServiceResource
	Keys         *KeysResource
	Members      *MembersResource
	Organization *OrganizationResource
	Budgets      *BudgetsResource
	Plans        *PlansResource
	Seats        *SeatsResource
	Alerts       *AlertsResource
	Digests      *DigestsResource
}

// Sync: send sessions, commits, pull requests, members, budgets, audit entries and reports. Scope: `write` or `sessions:write` or `commits:write` or `risk:write` or `members:write` or `budgets:write` or `reports:write` or `audit:write` or `admin`.
func (r *Resources) Sync(ctx context.Context, records any, params ...*SyncParams) (*SyncResult, error) {
	body, err := syncBody(records)
	if err != nil {
		return nil, err
	}
	return call[SyncResult](ctx, r.core, request{method: "POST", path: "/v1/sync", query: first(params), body: body})
}

// Whoami: the key or person of the request, the organization and its limits.
func (r *Resources) Whoami(ctx context.Context) (*WhoAmI, error) {
	return call[WhoAmI](ctx, r.core, request{method: "GET", path: "/v1/whoami"})
}

// Attention: list what needs attention: alerts that fire, exceeded budgets, endpoints that fail. Scope: `cost:read` or `read`.
func (r *Resources) Attention(ctx context.Context) (*Attention, error) {
	return call[Attention](ctx, r.core, request{method: "GET", path: "/v1/attention"})
}

func newResources(c *core) Resources {
	r := Resources{core: c}
	r.Sessions = &SessionsResource{c}
	r.Projects = &ProjectsResource{c}
	r.Models = &ModelsResource{c}
	r.Agents = &AgentsResource{c}
	r.Quality = &QualityResource{c}
	r.Cost = &CostResource{c}
	r.Effects = &EffectsResource{c}
	r.Notes = &NotesResource{c}
	r.Security = &SecurityResource{c}
	r.Findings = &FindingsResource{c}
	r.Audit = &AuditResource{c}
	r.Team = &TeamResource{c}
	r.Risk = &RiskResource{c}
	r.Outcomes = &OutcomesResource{c}
	r.Webhooks = &WebhooksResource{core: c, Deliveries: &WebhooksDeliveriesResource{c}}
	r.Badges = &BadgesResource{c}
	r.Service = &ServiceResource{c}
	r.Keys = &KeysResource{c}
	r.Members = &MembersResource{c}
	r.Organization = &OrganizationResource{c}
	r.Budgets = &BudgetsResource{c}
	r.Plans = &PlansResource{c}
	r.Seats = &SeatsResource{c}
	r.Alerts = &AlertsResource{core: c, Deliveries: &AlertsDeliveriesResource{c}}
	r.Digests = &DigestsResource{core: c, Deliveries: &DigestsDeliveriesResource{c}}
	return r
}
