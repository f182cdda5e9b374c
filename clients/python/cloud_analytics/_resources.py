# Made of the API's document by `bun run clients`; do not edit.
"""The methods of the API. Parameters are keywords, or one mapping: `list(per_page=10)`, `list({"per_page": 10})`.

Many methods have these:

page: Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it.
per_page: Items on a page. project: Only this project; empty: only what has none. date_from: First day of the
time zone, inclusive. date_to: Last day of the time zone, inclusive. member: Only sessions of this member: an
id, or an address in any case. team: Only what members of this team did, which they are in now; empty: of
members in none, and of nobody. model: Only sessions that used this model; a breakdown counts what they used
of it. agent: Only sessions of this coding agent: their `source`. branch: Only sessions on this branch; empty:
on none. ticket: Only sessions of this ticket, by `ticket_pattern`; empty: of none. min_cost: Only sessions
that cost at least this, in US dollars. max_cost: Only sessions that cost at most this, in US dollars.
min_quality: Only sessions with at least this quality score. max_quality: Only sessions with at most this
quality score. has_findings: Only sessions with, or without, security findings. compare: Adds `previous`, the
same of another range: `previous`, the equally long range before, which needs both dates, or days as
`2026-10-01..2026-10-31`. date_from: First UTC day, inclusive. date_to: Last UTC day, inclusive. status: Only
deliveries in this state. event: Only deliveries of this event. style: Shape of the badge; flat unless given.
label: Text on the left instead of the organization's; cut after 40 characters. days: Days that count, today
included. token: The organization's badge token, where its badges are private. project: Of this project.
member: Of this member: an id, or an address in any case. team: Of this team.
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Optional, Sequence, Union, cast

from . import models as m
from ._core import UNSET, Params, Resource, Transport

class Sessions(Resource):
    def list(
        self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET, project: str = UNSET,
        date_from: str = UNSET, date_to: str = UNSET, member: str = UNSET, team: str = UNSET,
        model: str = UNSET, agent: str = UNSET, branch: str = UNSET, ticket: str = UNSET,
        min_cost: float = UNSET, max_cost: float = UNSET, min_quality: float = UNSET,
        max_quality: float = UNSET, has_findings: bool = UNSET, sort: m.SessionSort = UNSET,
        order: Literal["asc", "desc"] = UNSET, include: Literal["details"] = UNSET
    ) -> m.SessionPage:
        """List sessions. Scope: `sessions:read` or `read`.

        sort: What to sort by; ties are broken by id, in the same direction. order: Direction of the sort.
        include: `details`: each also with `member`, `agent`, `model`, `branch`, `ended_at` and `findings`.
        """
        return self._list(m.SessionPage, "/v1/sessions", locals())

    def get(self, session_id: str) -> m.SessionDetail:
        """One session in full. Scope: `sessions:read` or `read`."""
        return cast(m.SessionDetail, self._call("GET", "/v1/sessions/{session_id}", locals()))

    def delete(self, session_id: str) -> None:
        """Delete a session. Scope: `write`."""
        self._call("DELETE", "/v1/sessions/{session_id}", locals())

class Projects(Resource):
    def list(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.SessionNamePage:
        """List the projects of sessions by name. Scope: `sessions:read` or `read`."""
        return self._list(m.SessionNamePage, "/v1/projects", locals())

class Models(Resource):
    def list(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.SessionNamePage:
        """List the models of sessions by name. Scope: `sessions:read` or `read`."""
        return self._list(m.SessionNamePage, "/v1/models", locals())

class Agents(Resource):
    def list(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.SessionNamePage:
        """List the coding agents of sessions by name. Scope: `sessions:read` or `read`."""
        return self._list(m.SessionNamePage, "/v1/agents", locals())

class Quality(Resource):
    def get(
        self, params: Params = None, *, project: str = UNSET, date_from: str = UNSET, date_to: str = UNSET,
        compare: str = UNSET
    ) -> m.QualityOverview:
        """Quality overview. Scope: `quality:read` or `read`."""
        return cast(m.QualityOverview, self._call("GET", "/v1/quality", locals()))

    def trend(
        self, params: Params = None, *, granularity: Literal["day", "week", "month"] = UNSET,
        include: Literal["quartiles"] = UNSET, project: str = UNSET, date_from: str = UNSET,
        date_to: str = UNSET
    ) -> m.QualityTrend:
        """Quality over time. Scope: `quality:read` or `read`.

        granularity: Length of a bucket. include: `quartiles`: also those of each bucket.
        """
        return cast(m.QualityTrend, self._call("GET", "/v1/quality/trend", locals()))

class Cost(Resource):
    def get(
        self, params: Params = None, *, project: str = UNSET, date_from: str = UNSET, date_to: str = UNSET,
        group_by: Literal["day", "week", "month"] = UNSET, compare: str = UNSET
    ) -> m.CostSummary:
        """Cost summary. Scope: `cost:read` or `read`.

        group_by: Length of a period in by_period.
        """
        return cast(m.CostSummary, self._call("GET", "/v1/cost", locals()))

    def breakdown(
        self, params: Params = None, *, by: m.BreakdownBy = UNSET, and_by: m.BreakdownBy = UNSET,
        top: int = UNSET, top_by: Literal["cost", "cost_and_change"] = UNSET, compare: str = UNSET,
        project: str = UNSET, date_from: str = UNSET, date_to: str = UNSET, member: str = UNSET,
        team: str = UNSET, model: str = UNSET, agent: str = UNSET, branch: str = UNSET, ticket: str = UNSET,
        min_cost: float = UNSET, max_cost: float = UNSET, min_quality: float = UNSET,
        max_quality: float = UNSET, has_findings: bool = UNSET, version: str = UNSET, effort: str = UNSET,
        skill: str = UNSET, subagent: str = UNSET, mcp_server: str = UNSET, plugin: str = UNSET,
        tier: m.CostBreakdownTier = UNSET, vendor: m.CostBreakdownVendor = UNSET,
        paid_by: m.CostBreakdownPaidBy = UNSET, sort: m.BreakdownSort = UNSET,
        order: Literal["asc", "desc"] = UNSET, page: int = UNSET, per_page: int = UNSET
    ) -> m.Breakdown:
        """Cost and tokens by project, member, team, model, agent, branch or time. Scope: `cost:read` or `read`.

        by: What an item is of: of `version` (agent and version), `effort`, `skill`, `subagent`, `mcp_server`,
        `plugin`, `tier`, `vendor` and `paid_by` one at a time, as agents write them on calls; null is
        without. Sums answer in a time that does not grow with the number of sessions. The sessions that match
        are read with the filters `ticket`, `min_cost`, `max_cost`, `min_quality`, `max_quality` and
        `has_findings`; by ticket with member, agent, model or branch; by branch with agent or model; by
        project and member together with agent, model or branch; by one of those above with another key or
        filter than agent and time; and by two keys of days that make no whole months. and_by: A second key,
        other than `by`: an item for each pair. top: Only so many values of `and_by`, which it needs: those
        that cost most in the whole range; the others are summed as `(others)`. top_by: What `top` goes by;
        `cost_and_change`: half of them cost most, and the others changed most against `compare`. compare:
        Adds `previous`, cost and sessions of the same key in another range, with a key of time to the total
        alone: `previous`, the equally long range before, which needs both dates, or days as
        `2026-10-01..2026-10-31`. version: Only calls of this agent and version; empty: without. effort: Only
        calls of this effort; empty: without. skill: Only calls of this skill; empty: without. subagent: Only
        calls of this type of sub-agent; empty: without. mcp_server: Only calls of this MCP server; empty:
        without. plugin: Only calls of this plugin; empty: without. tier: Only calls in this tier of service,
        or with a long prompt. vendor: Only calls that this vendor is paid for; empty: of none. paid_by: Only
        calls paid so, as recorded. sort: What to sort by: `tokens` is the sum of the four kinds; `change` is
        the size of the change of cost, needs `compare`, and includes keys that only the other range has; ties
        are broken by key. order: Direction of the sort.
        """
        return self._list(m.Breakdown, "/v1/cost/breakdown", locals())

    def explain(
        self, params: Params = None, *, by: m.CostExplainBy = UNSET, against: str = UNSET,
        project: str = UNSET, date_from: str = UNSET, date_to: str = UNSET, member: str = UNSET,
        team: str = UNSET, model: str = UNSET, agent: str = UNSET, branch: str = UNSET, ticket: str = UNSET,
        min_cost: float = UNSET, max_cost: float = UNSET, min_quality: float = UNSET,
        max_quality: float = UNSET, has_findings: bool = UNSET, version: str = UNSET, effort: str = UNSET,
        skill: str = UNSET, subagent: str = UNSET, mcp_server: str = UNSET, plugin: str = UNSET,
        tier: m.CostBreakdownTier = UNSET, vendor: m.CostBreakdownVendor = UNSET,
        paid_by: m.CostBreakdownPaidBy = UNSET, page: int = UNSET, per_page: int = UNSET
    ) -> m.Explanation:
        """Why cost changed: prompts, calls, models, tokens, prices. Scope: `cost:read` or `read`.

        by: What an item is of. Causes are found within each key and summed, so that those of the total depend
        on it. against: What the range is compared with: `previous`, as many days before; `year`, the same
        days a year before; or days as `2026-10-01..2026-10-31`. version: Only calls of this agent and
        version; empty: without. effort: Only calls of this effort; empty: without. skill: Only calls of this
        skill; empty: without. subagent: Only calls of this type of sub-agent; empty: without. mcp_server:
        Only calls of this MCP server; empty: without. plugin: Only calls of this plugin; empty: without.
        tier: Only calls in this tier of service, or with a long prompt. vendor: Only calls that this vendor
        is paid for; empty: of none. paid_by: Only calls paid so, as recorded.
        """
        return self._list(m.Explanation, "/v1/cost/explain", locals())

    def first_days(self, params: Params = None, *, by: m.CostFirstDaysBy = UNSET) -> m.FirstDays:
        """List keys in the order of their first appearance, by which charts colour them. Scope: `cost:read` or `read`.

        by: What a key is of.
        """
        return cast(m.FirstDays, self._call("GET", "/v1/cost/first-days", locals()))

    def price_guess(self, params: Params = None, *, name: str = UNSET) -> m.PriceGuess:
        """Guess the price of a model without a known one. Scope: `cost:read` or `read`.

        name: Of a model, as sessions have it.
        """
        return cast(m.PriceGuess, self._call("GET", "/v1/cost/price-guess", locals()))

    def trend(
        self, params: Params = None, *, granularity: Literal["day", "week", "month"] = UNSET,
        project: str = UNSET, date_from: str = UNSET, date_to: str = UNSET
    ) -> m.CostTrend:
        """Cost over time. Scope: `cost:read` or `read`.

        granularity: Length of a bucket.
        """
        return cast(m.CostTrend, self._call("GET", "/v1/cost/trend", locals()))

class Effects(Resource):
    def list(
        self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET,
        verdict: m.EffectsListVerdict = UNSET, kind: m.EffectsListKind = UNSET, date_from: str = UNSET,
        date_to: str = UNSET, dismissed: bool = UNSET
    ) -> m.EffectPage:
        """List the changes of how the organization works, and what each made of its cost. Scope: `cost:read` or `read`.

        verdict: Only these. kind: Only of this trait or kind. dismissed: Only dismissed ones, or only others.
        """
        return self._list(m.EffectPage, "/v1/effects", locals())

    def get(
        self, effect_id: str, params: Params = None, *, weeks: Literal["4", "8"] = UNSET,
        measure: m.EffectMeasure = UNSET
    ) -> m.Effect:
        """One change, and what it made. Scope: `cost:read` or `read`.

        weeks: Weeks after the change; 8 are a second look, with ranges of 97.5 %. measure: What is measured;
        of failed_tool_share and quality the effect is a difference.
        """
        return cast(m.Effect, self._call("GET", "/v1/effects/{effect_id}", locals()))

    def create(
        self, params: Params = None, *, name: str = UNSET, kind: m.NewEffectKind = UNSET, week: str = UNSET,
        day: str = UNSET, unit: Literal["member", "repository"] = UNSET, members: Sequence[str] = UNSET,
        projects: Sequence[str] = UNSET, team: str = UNSET, assigned: Literal["days"] = UNSET,
        from_: str = UNSET, to: str = UNSET, idempotency_key: str = UNSET
    ) -> m.Effect:
        """Record a change, or have days assigned by a draw. Scope: `admin`.

        kind: Of a recorded change. week: A day of the week in which it changed. day: The day on which it
        changed, in place of the week. members: Ids, or addresses in any case. assigned: Days are drawn, in
        place of a change that is recorded. from: First day, today or later. to: Last day.
        """
        return cast(m.Effect, self._call("POST", "/v1/effects", locals()))

    def update(
        self, effect_id: str, params: Params = None, *, name: str = UNSET, dismissed: bool = UNSET
    ) -> m.Effect:
        """Rename a change, or dismiss it. Scope: `admin`."""
        return cast(m.Effect, self._call("PATCH", "/v1/effects/{effect_id}", locals()))

    def delete(self, effect_id: str) -> None:
        """Remove a recorded or assigned change; a noticed one is dismissed instead. Scope: `admin`."""
        self._call("DELETE", "/v1/effects/{effect_id}", locals())

    def arm(self, effect_id: str, params: Params = None, *, day: str = UNSET) -> m.Arm:
        """The arm of the caller on a day: whether the change is on. Scope: `sessions:write` or `write` or `cost:read` or `read`.

        day: A day of the range; today unless given.
        """
        return cast(m.Arm, self._call("GET", "/v1/effects/{effect_id}/arm", locals()))

class Notes(Resource):
    def list(
        self, params: Params = None, *, date_from: str = UNSET, date_to: str = UNSET, project: str = UNSET,
        team: str = UNSET, page: int = UNSET, per_page: int = UNSET
    ) -> m.NotePage:
        """List the notes of days, the newest days first. Scope: `admin` or `cost:read` or `read`.

        project: The organization’s notes and those of this project; empty: the organization’s alone. team:
        The organization’s notes and those of this team; empty: the organization’s alone.
        """
        return self._list(m.NotePage, "/v1/notes", locals())

    def create(
        self, params: Params = None, *, day: str = UNSET, text: str = UNSET, project: Optional[str] = UNSET,
        team: Optional[str] = UNSET, idempotency_key: str = UNSET
    ) -> m.Note:
        """Add a note to a day. Scope: `admin`.

        day: A day of the organization’s zone.
        """
        return cast(m.Note, self._call("POST", "/v1/notes", locals()))

    def delete(self, note_id: str) -> None:
        """Remove the note. Scope: `admin`."""
        self._call("DELETE", "/v1/notes/{note_id}", locals())

class Security(Resource):
    def get(
        self, params: Params = None, *, project: str = UNSET, date_from: str = UNSET, date_to: str = UNSET,
        compare: str = UNSET
    ) -> m.SecurityOverview:
        """Security overview. Scope: `security:read` or `read`."""
        return cast(m.SecurityOverview, self._call("GET", "/v1/security", locals()))

    def heatmap(
        self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET, project: str = UNSET,
        min_score: float = UNSET, date_from: str = UNSET, date_to: str = UNSET
    ) -> m.Heatmap:
        """Risk by file. Scope: `security:read` or `read`.

        min_score: Only files with at least this risk score.
        """
        return self._list(m.Heatmap, "/v1/security/heatmap", locals())

class Findings(Resource):
    def list(
        self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET,
        severity: m.ListedFindingSeverity = UNSET, rule_id: str = UNSET, category: str = UNSET,
        project: str = UNSET, file: str = UNSET, member: str = UNSET, status: m.ListedFindingStatus = UNSET,
        assignee: str = UNSET, date_from: str = UNSET, date_to: str = UNSET,
        sort: Literal["created_at", "severity"] = UNSET, include: Literal["counts"] = UNSET
    ) -> m.ListedFindingPage:
        """List findings, those of the newest sessions or the most severe first. Scope: `security:read` or `read`.

        severity: Only of this severity. rule_id: Only of this rule. category: Only of this category. file:
        Only in this file. member: Only in sessions of this member: an id, or an address in any case. status:
        Only of this status. assignee: Only those of this assignee: an id, or an address in any case; empty:
        of nobody. sort: The newest first, or the most severe and of these the newest. include: `counts`: also
        how many match by severity, and what has most of them.
        """
        return self._list(m.ListedFindingPage, "/v1/findings", locals())

    def update(
        self, finding_id: str, params: Params = None, *, status: m.ListedFindingStatus = UNSET,
        note: str = UNSET, assignee: Optional[str] = UNSET
    ) -> m.ListedFinding:
        """Decide about a finding: fixed, accepted, dismissed, or open again; assign it. Scope: `admin` or `security:read` or `read`.

        assignee: Who is to mend it: a member’s id, or an address in any case; null: nobody.
        """
        return cast(m.ListedFinding, self._call("PATCH", "/v1/findings/{finding_id}", locals()))

class Audit(Resource):
    def list(
        self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET, action: str = UNSET,
        user_id: str = UNSET, date_from: str = UNSET, date_to: str = UNSET
    ) -> m.AuditEntryPage:
        """List the audit log, newest first. Scope: `audit:read` or `read`.

        action: Only this action, or those that begin alike: `webhook.*`. user_id: Only entries of this actor.
        """
        return self._list(m.AuditEntryPage, "/v1/audit", locals())

    def report(
        self, params: Params = None, *, cursor: str = UNSET, direction: Literal["before", "after"] = UNSET
    ) -> m.AuditReport:
        """The audit log as a report, page by page. Scope: `audit:read` or `read`.

        cursor: Where to go on, as `next_cursor` says: a date and time, or a date; UTC without an offset.
        direction: before: entries older than the cursor, newest first; after: newer, oldest first.
        """
        return cast(m.AuditReport, self._call("GET", "/v1/audit/report", locals()))

class Team(Resource):
    def get(self) -> m.TeamOverview:
        """Members and their activity. Scope: `team:read` or `read`."""
        return cast(m.TeamOverview, self._call("GET", "/v1/team", locals()))

    def expertise(self, params: Params = None, *, path: str = UNSET) -> m.Expertise:
        """Who knows which part of the code, or a file. Scope: `team:read` or `read`.

        path: Only who knows this file, and the domains that it is of; a name without a folder that is no file
        means the files of this name.
        """
        return cast(m.Expertise, self._call("GET", "/v1/team/expertise", locals()))

    def machines(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.MachinePage:
        """List the machines that send records, the one seen last first. Scope: `team:read` or `read`."""
        return self._list(m.MachinePage, "/v1/team/machines", locals())

    def coverage(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.CoveragePage:
        """How much of the sessions transcripts and telemetry tell, by member and agent. Scope: `team:read` or `read`."""
        return self._list(m.CoveragePage, "/v1/team/coverage", locals())

class Risk(Resource):
    def list(
        self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET, repo: str = UNSET,
        rating: m.Rating = UNSET, state: Literal["open", "merged", "closed"] = UNSET,
        include: Literal["cost"] = UNSET
    ) -> m.RiskScorePage:
        """List risk scores of pull requests, newest first. Scope: `risk:read` or `read`.

        repo: Only pull requests of this repository. rating: Only scores of this band. state: Only pull
        requests in this state. include: Adds `cost`, `sessions` and `state` to each item.
        """
        return self._list(m.RiskScorePage, "/v1/risk", locals())

    def get(self, pr_id: str) -> m.RiskDetail:
        """One risk score, with the sessions that worked on the pull request. Scope: `risk:read` or `read`."""
        return cast(m.RiskDetail, self._call("GET", "/v1/risk/{pr_id}", locals()))

class Outcomes(Resource):
    def list(
        self, params: Params = None, *, by: m.OutcomesBy = UNSET, date_from: str = UNSET, date_to: str = UNSET,
        project: str = UNSET, repo: str = UNSET, member: str = UNSET, team: str = UNSET, compare: str = UNSET,
        page: int = UNSET, per_page: int = UNSET
    ) -> m.Outcomes:
        """What came of it: pull requests, their cost, agents’ lines and what is left of them. Scope: `cost:read` and `risk:read` or `read`.

        by: What an item is of. repo: Only this repository; sessions and commits count under that of their
        project’s pull requests. member: Only what this member did: an id, or an address in any case. compare:
        Adds `previous` to the total, the same of another range: `previous`, the equally long range before,
        which needs both dates, or days as `2026-10-01..2026-10-31`.
        """
        return self._list(m.Outcomes, "/v1/outcomes", locals())

class Webhooks(Resource):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.deliveries = WebhooksDeliveries(transport)

    def list(self) -> m.WebhookEndpointList:
        """List webhook endpoints, oldest first. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        return self._list(m.WebhookEndpointList, "/v1/webhooks", locals())

    def create(
        self, params: Params = None, *, url: str = UNSET,
        events: Union[Sequence[m.SubscribedEvent], Literal["*"]] = UNSET, enabled: bool = UNSET,
        description: Optional[str] = UNSET, idempotency_key: str = UNSET
    ) -> m.CreatedWebhookEndpoint:
        """Add a webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.

        url: Absolute https URL without user or password, of a host that is not on a private network. events:
        Events to be told of, or `*` for all, those to come too; with others beside it, `*` stands for them
        all. enabled: true unless given. description: For people; null is none.
        """
        return cast(m.CreatedWebhookEndpoint, self._call("POST", "/v1/webhooks", locals()))

    def get(self, webhook_id: str) -> m.WebhookEndpoint:
        """One webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        return cast(m.WebhookEndpoint, self._call("GET", "/v1/webhooks/{webhook_id}", locals()))

    def update(
        self, webhook_id: str, params: Params = None, *, url: str = UNSET,
        events: Union[Sequence[m.SubscribedEvent], Literal["*"]] = UNSET, enabled: bool = UNSET,
        description: Optional[str] = UNSET
    ) -> m.WebhookEndpoint:
        """Change a webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.

        url: Absolute https URL without user or password, of a host that is not on a private network. events:
        Events to be told of, or `*` for all, those to come too; with others beside it, `*` stands for them
        all. enabled: true unless given. description: For people; null is none.
        """
        return cast(m.WebhookEndpoint, self._call("PATCH", "/v1/webhooks/{webhook_id}", locals()))

    def delete(self, webhook_id: str) -> None:
        """Remove a webhook endpoint. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        self._call("DELETE", "/v1/webhooks/{webhook_id}", locals())

    def rotate_secret(
        self, webhook_id: str, params: Params = None, *, grace_period_seconds: int = UNSET,
        finish: bool = UNSET
    ) -> m.RotatedSecret:
        """Replace the signing secret. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.

        grace_period_seconds: How long deliveries are signed with the former secret too. finish: Makes no
        secret, but ends the grace of the one before: the receiver has the new one.
        """
        return cast(m.RotatedSecret, self._call("POST", "/v1/webhooks/{webhook_id}/rotate-secret", locals()))

    def test(
        self, webhook_id: str, params: Params = None, *, event: m.EventName = UNSET
    ) -> m.WebhookTestResult:
        """Send a test event now. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.

        event: Send this event's example instead of `webhook.test`.
        """
        return cast(m.WebhookTestResult, self._call("POST", "/v1/webhooks/{webhook_id}/test", locals()))

    def recover(
        self, webhook_id: str, params: Params = None, *, since: str = UNSET, until: Optional[str] = UNSET,
        dry_run: Optional[bool] = UNSET
    ) -> m.RecoveryResult:
        """Send all failed deliveries of a time again. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`.

        since: Deliveries made from then on. until: and before then; now unless given. dry_run: Only count
        them.
        """
        return cast(m.RecoveryResult, self._call("POST", "/v1/webhooks/{webhook_id}/recover", locals()))

    def retry(self, webhook_id: str) -> m.RecoveryResult:
        """Send all deliveries that wait for a retry now. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        return cast(m.RecoveryResult, self._call("POST", "/v1/webhooks/{webhook_id}/retry", locals()))

    def events(self) -> m.EventCatalogue:
        """The events there are. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        return cast(m.EventCatalogue, self._call("GET", "/v1/webhooks/events", locals()))

class WebhooksDeliveries(Resource):
    def list(
        self, webhook_id: str, params: Params = None, *, page: int = UNSET, per_page: int = UNSET,
        status: m.DeliveryStatus = UNSET, event: m.SentEvent = UNSET, date_from: str = UNSET,
        date_to: str = UNSET
    ) -> m.DeliveryPage:
        """List deliveries of an endpoint, newest first. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        return self._list(m.DeliveryPage, "/v1/webhooks/{webhook_id}/deliveries", locals())

    def get(self, webhook_id: str, delivery_id: str) -> m.DeliveryDetail:
        """One delivery with its request and attempts. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        return cast(m.DeliveryDetail, self._call("GET", "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}", locals()))

    def redeliver(self, webhook_id: str, delivery_id: str) -> m.Delivery:
        """Send a delivery again. Scope: `webhooks`, and the plan `cloud_team` or `cloud_enterprise`."""
        return cast(m.Delivery, self._call("POST", "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", locals()))

class Badges(Resource):
    def quality(
        self, org_slug: str, params: Params = None, *, style: m.BadgeStyle = UNSET, label: str = UNSET,
        days: int = UNSET, project: str = UNSET, token: str = UNSET
    ) -> str:
        """Quality badge."""
        return cast(str, self._call("GET", "/api/badge/{org_slug}/quality", locals(), text=True))

    def security(
        self, org_slug: str, params: Params = None, *, style: m.BadgeStyle = UNSET, label: str = UNSET,
        days: int = UNSET, project: str = UNSET, token: str = UNSET
    ) -> str:
        """Security badge."""
        return cast(str, self._call("GET", "/api/badge/{org_slug}/security", locals(), text=True))

    def cost(
        self, org_slug: str, params: Params = None, *, style: m.BadgeStyle = UNSET, label: str = UNSET,
        days: int = UNSET, project: str = UNSET, token: str = UNSET
    ) -> str:
        """Cost badge."""
        return cast(str, self._call("GET", "/api/badge/{org_slug}/cost", locals(), text=True))

    def quality_json(
        self, org_slug: str, params: Params = None, *, style: m.BadgeStyle = UNSET, label: str = UNSET,
        days: int = UNSET, project: str = UNSET, token: str = UNSET
    ) -> m.ShieldsBadge:
        """Quality badge, as shields.io reads it."""
        return cast(m.ShieldsBadge, self._call("GET", "/api/badge/{org_slug}/quality.json", locals()))

    def security_json(
        self, org_slug: str, params: Params = None, *, style: m.BadgeStyle = UNSET, label: str = UNSET,
        days: int = UNSET, project: str = UNSET, token: str = UNSET
    ) -> m.ShieldsBadge:
        """Security badge, as shields.io reads it."""
        return cast(m.ShieldsBadge, self._call("GET", "/api/badge/{org_slug}/security.json", locals()))

    def cost_json(
        self, org_slug: str, params: Params = None, *, style: m.BadgeStyle = UNSET, label: str = UNSET,
        days: int = UNSET, project: str = UNSET, token: str = UNSET
    ) -> m.ShieldsBadge:
        """Cost badge, as shields.io reads it."""
        return cast(m.ShieldsBadge, self._call("GET", "/api/badge/{org_slug}/cost.json", locals()))

class Service(Resource):
    def health(self) -> m.Health:
        """Whether the service can do its work."""
        return cast(m.Health, self._call("GET", "/health", locals(), answers_503=True))

    def ready(self) -> m.Readiness:
        """Whether requests should be sent to this instance."""
        return cast(m.Readiness, self._call("GET", "/ready", locals(), answers_503=True))

    def live(self) -> m.Liveness:
        """Whether the process serves."""
        return cast(m.Liveness, self._call("GET", "/live", locals()))

    def server(self) -> m.Server:
        """Version, last backup and disk of a server that has one organization. Scope: `admin`."""
        return cast(m.Server, self._call("GET", "/v1/server", locals()))

class Keys(Resource):
    def list(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.ApiKeyPage:
        """List the API keys, newest first. Scope: `admin`, or a developer who signed in."""
        return self._list(m.ApiKeyPage, "/v1/keys", locals())

    def create(
        self, params: Params = None, *, name: str = UNSET, scopes: Sequence[m.Scope] = UNSET,
        expires_at: Optional[str] = UNSET, member: Optional[str] = UNSET
    ) -> m.CreatedApiKey:
        """Make an API key. Scope: `admin`, or a developer who signed in.

        expires_at: In the future; without it the key does not expire. member: Id or address of a member.
        """
        return cast(m.CreatedApiKey, self._call("POST", "/v1/keys", locals()))

    def get(self, key_id: str) -> m.ApiKey:
        """One API key. Scope: `admin`, or a developer who signed in."""
        return cast(m.ApiKey, self._call("GET", "/v1/keys/{key_id}", locals()))

    def rotate(
        self, key_id: str, params: Params = None, *, grace_period_seconds: int = UNSET
    ) -> m.CreatedApiKey:
        """Replace an API key. Scope: `admin`, or a developer who signed in.

        grace_period_seconds: How long the old key still works.
        """
        return cast(m.CreatedApiKey, self._call("POST", "/v1/keys/{key_id}/rotate", locals()))

    def revoke(self, key_id: str) -> None:
        """Revoke an API key. Scope: `admin`, or a developer who signed in."""
        self._call("DELETE", "/v1/keys/{key_id}", locals())

class Members(Resource):
    def list(
        self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET, q: str = UNSET,
        role: m.Role = UNSET
    ) -> m.MemberPage:
        """List the members, the first to join first. Scope: `admin`.

        q: Part of the address or name, in any case. role: Only this role.
        """
        return self._list(m.MemberPage, "/v1/members", locals())

    def create(
        self, params: Params = None, *, email: str = UNSET, display_name: str = UNSET, role: m.Role = UNSET,
        team: Optional[str] = UNSET
    ) -> m.Member:
        """Add a member. Scope: `admin`.

        team: Null for none. Without this field the one that is stored stays.
        """
        return cast(m.Member, self._call("POST", "/v1/members", locals()))

    def update(
        self, user_id: str, params: Params = None, *, display_name: str = UNSET, role: m.Role = UNSET,
        team: Optional[str] = UNSET, aliases: Sequence[str] = UNSET
    ) -> m.Member:
        """Change a member. Scope: `admin`.

        team: Null for none. Without this field the one that is stored stays. aliases: All other addresses of
        the member; [] for none.
        """
        return cast(m.Member, self._call("PATCH", "/v1/members/{user_id}", locals()))

    def delete(self, user_id: str) -> None:
        """Remove a member. Scope: `admin`."""
        self._call("DELETE", "/v1/members/{user_id}", locals())

    def invite(self, user_id: str) -> m.Invitation:
        """Make a link by which a member sets a password. Scope: `admin`."""
        return cast(m.Invitation, self._call("POST", "/v1/members/{user_id}/invitation", locals()))

    def invite_many(
        self, params: Params = None, *, members: Sequence[Mapping[str, Any]] = UNSET
    ) -> m.Invitations:
        """Make links for up to 200 people. Scope: `admin`."""
        return cast(m.Invitations, self._call("POST", "/v1/members/invitations", locals()))

class Organization(Resource):
    def get(self) -> m.OrganizationSettings:
        """The organization’s settings. Scope: `admin` or `read`."""
        return cast(m.OrganizationSettings, self._call("GET", "/v1/organization", locals()))

    def update(
        self, params: Params = None, *, name: str = UNSET, hide_members: bool = UNSET,
        member_visibility: Literal["all", "own"] = UNSET, retention_sessions_days: Optional[int] = UNSET,
        confirm_retention: bool = UNSET, time_zone: str = UNSET, badges: Mapping[str, Any] = UNSET,
        ticket_pattern: Optional[str] = UNSET, ticket_ignore: Optional[Sequence[str]] = UNSET,
        budget_action: Literal["warn", "block"] = UNSET, github_secret: Optional[str] = UNSET
    ) -> m.OrganizationSettings:
        """Change the organization’s settings. Scope: `admin`.

        member_visibility: `own`: developers see only their own sessions and figures. retention_sessions_days:
        Sessions are deleted after so many days; null: they are kept for ever. confirm_retention: true: the
        shorter retention that waits holds at once. time_zone: A name of IANA: days, weeks and months are
        those of the zone. budget_action: The hook on laptops warns beyond a budget, or refuses prompts.
        github_secret: Write-only; null removes it.
        """
        return cast(m.OrganizationSettings, self._call("PATCH", "/v1/organization", locals()))

    def new_badge_token(self) -> m.BadgeToken:
        """Make a new token for private badges. Scope: `admin`."""
        return cast(m.BadgeToken, self._call("POST", "/v1/organization/badge-token", locals()))

class Budgets(Resource):
    def list(
        self, params: Params = None, *, project: str = UNSET, member: str = UNSET, team: str = UNSET,
        page: int = UNSET, per_page: int = UNSET, include: Literal["used"] = UNSET, month: str = UNSET
    ) -> m.ScopedBudgetPage:
        """List the monthly limits, newest first. Scope: `admin` or `cost:read` or `read`.

        include: `used`: also what is spent of each in the month. month: The month of `used`, at most this
        one, which is the default.
        """
        return self._list(m.ScopedBudgetPage, "/v1/budgets", locals())

    def mine(self, params: Params = None, *, project: str = UNSET) -> m.MyBudgets:
        """This month’s budgets of who works on a project. Scope: `sessions:write` or `write` or `cost:read` or `read`.

        project: The project that is worked on.
        """
        return cast(m.MyBudgets, self._call("GET", "/v1/budgets/mine", locals()))

    def set(
        self, month: str, params: Params = None, *, limit: float = UNSET, project: str = UNSET,
        member: str = UNSET, team: str = UNSET
    ) -> m.MonthBudget:
        """Set the limit from a month on. Scope: `admin`."""
        return cast(m.MonthBudget, self._call("PUT", "/v1/budgets/{month}", locals(), query=("project", "member", "team",)))

    def delete(
        self, month: str, params: Params = None, *, project: str = UNSET, member: str = UNSET,
        team: str = UNSET
    ) -> None:
        """Delete the limit of a month. Scope: `admin`."""
        self._call("DELETE", "/v1/budgets/{month}", locals())

class Plans(Resource):
    def list(
        self, params: Params = None, *, vendor: m.Vendor = UNSET, plan: str = UNSET, member: str = UNSET,
        page: int = UNSET, per_page: int = UNSET
    ) -> m.PlanPage:
        """List the plans, those that began last first. Scope: `admin`.

        vendor: Only of this vendor. plan: Only of this plan. member: Only of this member: an id, or an
        address in any case.
        """
        return self._list(m.PlanPage, "/v1/plans", locals())

    def create(
        self, params: Params = None, *, vendor: m.Vendor = UNSET, plan: str = UNSET,
        member: Optional[str] = UNSET, from_: str = UNSET, to: Optional[str] = UNSET,
        price_month: float = UNSET, quantity: Optional[int] = UNSET, currency: Optional[str] = UNSET,
        usd_rate: Optional[float] = UNSET, included_credits: Optional[float] = UNSET, replace: bool = UNSET
    ) -> m.Plan:
        """Add a plan. Scope: `admin`.

        member: An id, or an address in any case; without it the seats are of everybody without a plan. from:
        First day. to: Last day, inclusive. price_month: Of one seat and month, in `currency`. quantity:
        Seats. currency: A code of ISO 4217. usd_rate: US dollars for one unit of the currency; required where
        it is not USD. included_credits: Credits of one seat and month. replace: End the one that is in force
        (of the member and vendor, or these shared seats) the day before.
        """
        return cast(m.Plan, self._call("POST", "/v1/plans", locals(), query=("replace",)))

    def update(
        self, plan_id: str, params: Params = None, *, vendor: m.Vendor = UNSET, plan: str = UNSET,
        member: Optional[str] = UNSET, from_: str = UNSET, to: Optional[str] = UNSET,
        price_month: float = UNSET, quantity: Optional[int] = UNSET, currency: Optional[str] = UNSET,
        usd_rate: Optional[float] = UNSET, included_credits: Optional[float] = UNSET
    ) -> m.Plan:
        """Change the fields of the plan that are given. Scope: `admin`.

        member: An id, or an address in any case; without it the seats are of everybody without a plan. from:
        First day. to: Last day, inclusive. price_month: Of one seat and month, in `currency`. quantity:
        Seats. currency: A code of ISO 4217. usd_rate: US dollars for one unit of the currency; required where
        it is not USD. included_credits: Credits of one seat and month.
        """
        return cast(m.Plan, self._call("PATCH", "/v1/plans/{plan_id}", locals()))

    def delete(self, plan_id: str) -> None:
        """Remove a plan as if it had never been paid. Scope: `admin`."""
        self._call("DELETE", "/v1/plans/{plan_id}", locals())

class Seats(Resource):
    def list(
        self, params: Params = None, *, date_from: str = UNSET, date_to: str = UNSET, vendor: m.Vendor = UNSET,
        plan: str = UNSET, member: str = UNSET, team: str = UNSET, verdict: m.SeatVerdict = UNSET,
        page: int = UNSET, per_page: int = UNSET
    ) -> m.SeatPage:
        """List seats: what they cost, and what the same work would have cost by the price list. Scope: `admin`.

        vendor: Only of this vendor. plan: Only of this plan. member: Only of this member: an id, or an
        address in any case. verdict: Only with this verdict.
        """
        return self._list(m.SeatPage, "/v1/seats", locals())

    def mine(self) -> m.MySeats:
        """One’s own plans and limits. Scope: `sessions:write` or `write` or `cost:read` or `read`."""
        return cast(m.MySeats, self._call("GET", "/v1/seats/mine", locals()))

class Alerts(Resource):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.deliveries = AlertsDeliveries(transport)

    def list(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.AlertPage:
        """List alerts, oldest first. Scope: `admin` or `cost:read` or `read`."""
        return self._list(m.AlertPage, "/v1/alerts", locals())

    def create(
        self, params: Params = None, *, name: str = UNSET, metric: m.AlertMetric = UNSET,
        window: Literal["day", "week", "month"] = UNSET, above: float = UNSET, below: float = UNSET,
        times: float = UNSET, destinations: Sequence[Mapping[str, Any]] = UNSET,
        each: Optional[Literal["project", "member", "team"]] = UNSET, no_data: Literal["ok", "fire"] = UNSET,
        renotify_minutes: Optional[int] = UNSET, enabled: bool = UNSET, scope: Mapping[str, Any] = UNSET,
        idempotency_key: str = UNSET
    ) -> m.Alert:
        """Add an alert. Scope: `admin`.

        window: The day, week (from Monday) or month of the time zone that is now. above: Fires above it; one
        of `above`, `below` and `times` is there. below: Fires below it. times: Fires above this many times
        the median of the 14 windows before. no_data: What happens where the figure has no value.
        renotify_minutes: Tells again after this time; null: once. scope: Whose figures; {}: those of the
        organization.
        """
        return cast(m.Alert, self._call("POST", "/v1/alerts", locals()))

    def get(self, alert_id: str) -> m.Alert:
        """One alert, with all that is known of it. Scope: `admin` or `cost:read` or `read`."""
        return cast(m.Alert, self._call("GET", "/v1/alerts/{alert_id}", locals()))

    def update(
        self, alert_id: str, params: Params = None, *, name: str = UNSET, metric: m.AlertMetric = UNSET,
        window: Literal["day", "week", "month"] = UNSET, above: float = UNSET, below: float = UNSET,
        times: float = UNSET, destinations: Sequence[Mapping[str, Any]] = UNSET,
        each: Optional[Literal["project", "member", "team"]] = UNSET, no_data: Literal["ok", "fire"] = UNSET,
        renotify_minutes: Optional[int] = UNSET, enabled: bool = UNSET, scope: Mapping[str, Any] = UNSET
    ) -> m.Alert:
        """Change the fields of the alert that are given. Scope: `admin`.

        window: The day, week (from Monday) or month of the time zone that is now. above: Fires above it; one
        of `above`, `below` and `times` is there. below: Fires below it. times: Fires above this many times
        the median of the 14 windows before. no_data: What happens where the figure has no value.
        renotify_minutes: Tells again after this time; null: once. scope: Whose figures; {}: those of the
        organization.
        """
        return cast(m.Alert, self._call("PATCH", "/v1/alerts/{alert_id}", locals()))

    def delete(self, alert_id: str) -> None:
        """Remove the alert; what waits for Slack and Teams is cancelled. Scope: `admin`."""
        self._call("DELETE", "/v1/alerts/{alert_id}", locals())

    def test(self, alert_id: str) -> m.NotificationTest:
        """Send an example of the alert to its destinations now. Scope: `admin`."""
        return cast(m.NotificationTest, self._call("POST", "/v1/alerts/{alert_id}/test", locals()))

class AlertsDeliveries(Resource):
    def list(
        self, alert_id: str, params: Params = None, *, page: int = UNSET, per_page: int = UNSET,
        status: m.DeliveryStatus = UNSET, event: m.SentEvent = UNSET, date_from: str = UNSET,
        date_to: str = UNSET
    ) -> m.NotificationDeliveryPage:
        """List what was sent of the alert, newest first. Scope: `admin` or `cost:read` or `read`."""
        return self._list(m.NotificationDeliveryPage, "/v1/alerts/{alert_id}/deliveries", locals())

    def get(self, alert_id: str, delivery_id: str) -> m.NotificationDeliveryDetail:
        """One delivery with its body and attempts. Scope: `admin` or `cost:read` or `read`."""
        return cast(m.NotificationDeliveryDetail, self._call("GET", "/v1/alerts/{alert_id}/deliveries/{delivery_id}", locals()))

    def redeliver(self, alert_id: str, delivery_id: str) -> m.NotificationDelivery:
        """Send a delivery again, as that of a webhook. Scope: `admin`."""
        return cast(m.NotificationDelivery, self._call("POST", "/v1/alerts/{alert_id}/deliveries/{delivery_id}/redeliver", locals()))

class Digests(Resource):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.deliveries = DigestsDeliveries(transport)

    def list(self, params: Params = None, *, page: int = UNSET, per_page: int = UNSET) -> m.DigestPage:
        """List digests, oldest first. Scope: `admin` or `cost:read` or `read`."""
        return self._list(m.DigestPage, "/v1/digests", locals())

    def create(
        self, params: Params = None, *, name: str = UNSET, weekday: m.DigestWeekday = UNSET, hour: int = UNSET,
        destinations: Sequence[Mapping[str, Any]] = UNSET, enabled: bool = UNSET, idempotency_key: str = UNSET
    ) -> m.Digest:
        """Add a digest. Scope: `admin`.

        weekday: Of the time zone; monday unless given. hour: Of the time zone; 8 unless given.
        """
        return cast(m.Digest, self._call("POST", "/v1/digests", locals()))

    def get(self, digest_id: str) -> m.Digest:
        """One digest, with all that is known of it. Scope: `admin` or `cost:read` or `read`."""
        return cast(m.Digest, self._call("GET", "/v1/digests/{digest_id}", locals()))

    def update(
        self, digest_id: str, params: Params = None, *, name: str = UNSET, weekday: m.DigestWeekday = UNSET,
        hour: int = UNSET, destinations: Sequence[Mapping[str, Any]] = UNSET, enabled: bool = UNSET
    ) -> m.Digest:
        """Change the fields of the digest that are given. Scope: `admin`.

        weekday: Of the time zone; monday unless given. hour: Of the time zone; 8 unless given.
        """
        return cast(m.Digest, self._call("PATCH", "/v1/digests/{digest_id}", locals()))

    def delete(self, digest_id: str) -> None:
        """Remove the digest; what waits for Slack and Teams is cancelled. Scope: `admin`."""
        self._call("DELETE", "/v1/digests/{digest_id}", locals())

    def test(self, digest_id: str) -> m.NotificationTest:
        """Send an example of the digest to its destinations now. Scope: `admin`."""
        return cast(m.NotificationTest, self._call("POST", "/v1/digests/{digest_id}/test", locals()))

class DigestsDeliveries(Resource):
    def list(
        self, digest_id: str, params: Params = None, *, page: int = UNSET, per_page: int = UNSET,
        status: m.DeliveryStatus = UNSET, event: m.SentEvent = UNSET, date_from: str = UNSET,
        date_to: str = UNSET
    ) -> m.NotificationDeliveryPage:
        """List what was sent of the digest, newest first. Scope: `admin` or `cost:read` or `read`."""
        return self._list(m.NotificationDeliveryPage, "/v1/digests/{digest_id}/deliveries", locals())

    def get(self, digest_id: str, delivery_id: str) -> m.NotificationDeliveryDetail:
        """One delivery with its body and attempts. Scope: `admin` or `cost:read` or `read`."""
        return cast(m.NotificationDeliveryDetail, self._call("GET", "/v1/digests/{digest_id}/deliveries/{delivery_id}", locals()))

    def redeliver(self, digest_id: str, delivery_id: str) -> m.NotificationDelivery:
        """Send a delivery again, as that of a webhook. Scope: `admin`."""
        return cast(m.NotificationDelivery, self._call("POST", "/v1/digests/{digest_id}/deliveries/{delivery_id}/redeliver", locals()))

class Resources(Resource):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.sessions = Sessions(transport)
        self.projects = Projects(transport)
        self.models = Models(transport)
        self.agents = Agents(transport)
        self.quality = Quality(transport)
        self.cost = Cost(transport)
        self.effects = Effects(transport)
        self.notes = Notes(transport)
        self.security = Security(transport)
        self.findings = Findings(transport)
        self.audit = Audit(transport)
        self.team = Team(transport)
        self.risk = Risk(transport)
        self.outcomes = Outcomes(transport)
        self.webhooks = Webhooks(transport)
        self.badges = Badges(transport)
        self.service = Service(transport)
        self.keys = Keys(transport)
        self.members = Members(transport)
        self.organization = Organization(transport)
        self.budgets = Budgets(transport)
        self.plans = Plans(transport)
        self.seats = Seats(transport)
        self.alerts = Alerts(transport)
        self.digests = Digests(transport)

    def sync(
        self, records: Sequence[Mapping[str, Any]], params: Params = None, *, machine: str = UNSET,
        reassign: bool = UNSET, restore: bool = UNSET, moved: bool = UNSET
    ) -> m.SyncResult:
        """Send sessions, commits, pull requests, members, budgets, audit entries and reports. Scope: `write` or `sessions:write` or `commits:write` or `risk:write` or `members:write` or `budgets:write` or `reports:write` or `audit:write` or `admin`.

        machine: The name of the machine that sends: 1 to 255 printable ASCII characters, no comma. GET
        /v1/team/machines shows when each was seen. reassign: Whether a session may get another user than the
        one it has; without a user it keeps the one it has. restore: Whether sessions that were deleted are
        stored again, for which the key needs `write`; without it they are left out. moved: Whether the
        response says how many of the updated sessions had another project.
        """
        return cast(m.SyncResult, self._call("POST", "/v1/sync", locals(), query=("machine", "reassign", "restore", "moved",)))

    def whoami(self) -> m.WhoAmI:
        """The key or person of the request, the organization and its limits."""
        return cast(m.WhoAmI, self._call("GET", "/v1/whoami", locals()))

    def attention(self) -> m.Attention:
        """List what needs attention: alerts that fire, exceeded budgets, endpoints that fail. Scope: `cost:read` or `read`."""
        return cast(m.Attention, self._call("GET", "/v1/attention", locals()))
