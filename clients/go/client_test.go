package cloudanalytics

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

type sent struct {
	*http.Request
	body string
}

// serve is a server whose requests answer answers in turn, from 1.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, number int)) (*[]sent, string) {
	t.Helper()
	var requests []sent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests = append(requests, sent{r, string(body)})
		answer(w, r, len(requests))
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &requests, server.URL
}

func write(w http.ResponseWriter, status int, body string, header ...string) {
	for i := 0; i < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

func same(t *testing.T, what string, got, wanted any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("%s: %v, not %v", what, got, wanted)
	}
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

const limited = `{"error":"no","code":"RATE_LIMITED","request_id":"r-1"}`

var ctx = context.Background()

func TestPages(t *testing.T) {
	requests, url := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		page := r.URL.Query().Get("page")
		if page == "" {
			page = "1"
		}
		write(w, 200, fmt.Sprintf(`{"data":[{"id":"sess_%s"}],"pagination":{"page":%s,"per_page":1,"total":3},"total":{"cost":2}}`, page, page))
	})
	client := New("k", WithBaseURL(url))
	params := &SessionsListParams{Project: Empty, PerPage: 1, MinCost: Ptr(0.0)}
	var ids []string
	iter := client.Sessions.Iter(ctx, params)
	for iter.Next() {
		ids = append(ids, iter.Value().ID)
	}
	same(t, "error", iter.Err(), nil)
	same(t, "ids", ids, "[sess_1 sess_2 sess_3]")
	for i, wanted := range []string{"", "page=2&", "page=3&"} {
		same(t, "address", (*requests)[i].URL, "/v1/sessions?min_cost=0&"+wanted+"per_page=1&project=")
	}
	same(t, "key", (*requests)[0].Header.Get("Authorization"), "Bearer k")
	iter = client.Sessions.Iter(ctx, &SessionsListParams{Page: 2})
	same(t, "next", []any{iter.Next(), iter.Value().ID, len(*requests)}, "[true sess_2 4]")
	same(t, "page", must[*SessionPage](t)(client.Sessions.List(ctx, nil)).Pagination.Total, 3)
	same(t, "total", must[*Breakdown](t)(client.Cost.Breakdown(ctx, &CostBreakdownParams{By: "model"})).Total.Cost, 2)
}

func TestPagesWhileItemsArrive(t *testing.T) {
	pages := []string{`{"id":"c"},{"id":"b"}`, `{"id":"b"},{"id":"a"}`, `{"id":"a"}`}
	_, url := serve(t, func(w http.ResponseWriter, _ *http.Request, number int) {
		write(w, 200, fmt.Sprintf(`{"data":[%s],"pagination":{"page":%d,"per_page":2,"total":5}}`, pages[number-1], number))
	})
	var ids []string
	iter := New("k", WithBaseURL(url)).Sessions.Iter(ctx, nil)
	for iter.Next() {
		ids = append(ids, iter.Value().ID)
	}
	same(t, "ids", ids, "[c b a]")
}

func TestKey(t *testing.T) {
	requests, url := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { write(w, 200, `{}`) })
	must[*WhoAmI](t)(New(" ca_live_k\n", WithBaseURL(url)).Whoami(ctx))
	same(t, "key", (*requests)[0].Header.Get("Authorization"), "Bearer ca_live_k")
	for _, key := range []string{"ca_live_\nk", "ca_live_ k", "ca_live_ké"} {
		_, err := New(key, WithBaseURL(url)).Whoami(ctx)
		if err == nil || strings.Contains(err.Error(), "ca_live_") {
			t.Errorf("%q: %v", key, err)
		}
	}
	same(t, "requests", len(*requests), 1)
}

func TestRetries(t *testing.T) {
	requests, url := serve(t, func(w http.ResponseWriter, _ *http.Request, number int) {
		switch number {
		case 1:
			write(w, 429, limited, "Retry-After", "1")
		case 2:
			write(w, 503, `{"error":"no","code":"INTERNAL_ERROR"}`, "Retry-After", "0")
		case 3, 4, 5:
			write(w, 200, `{"received":1}`)
		case 6, 7:
			write(w, 429, limited, "Retry-After", "0")
		default:
			write(w, 429, limited, "Retry-After", "301")
		}
	})
	started := time.Now()
	records := []any{BudgetRecord{Month: "2026-01", Limit: 5}, map[string]any{"type": "budget"}}
	result := must[*SyncResult](t)(New("k", WithBaseURL(url)).Sync(ctx, records, &SyncParams{Machine: "m"}))
	same(t, "received", result.Received, 1)
	if time.Since(started) < 990*time.Millisecond {
		t.Error("Retry-After was not waited for")
	}
	same(t, "body", (*requests)[2].body, "{\"type\":\"budget\",\"month\":\"2026-01\",\"limit\":5}\n{\"type\":\"budget\"}\n")
	same(t, "machine", (*requests)[2].Header.Get("X-Machine")+(*requests)[2].URL.RawQuery, "m")
	client := New("k", WithBaseURL(url), WithMaxRetries(1))
	must[*WebhookTestResult](t)(client.Webhooks.Test(ctx, "hook_1", nil))
	same(t, "body", (*requests)[3].body, "")
	must[*WebhookEndpoint](t)(client.Webhooks.Update(ctx, "hook_1", &WebhookEndpointChange{Description: Null[string](), Enabled: Ptr(false)}))
	same(t, "body", (*requests)[4].body, `{"enabled":false,"description":null}`)
	var refused *RateLimitedError
	if _, err := client.Whoami(ctx); !errors.As(err, &refused) || len(*requests) != 7 {
		t.Error(err, len(*requests))
	}
	if _, err := client.Whoami(ctx); !errors.As(err, &refused) || refused.RetryAfter != 301*time.Second || len(*requests) != 8 {
		t.Error(err, len(*requests))
	}
	if _, err := client.Sync(ctx, 5); err == nil {
		t.Error("a number is no list of records")
	}
}

func TestBrokenConnections(t *testing.T) {
	requests, url := serve(t, func(w http.ResponseWriter, _ *http.Request, number int) {
		if number == 3 { // in the middle of an answer
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(200)
		} else if number%2 == 1 {
			panic(http.ErrAbortHandler)
		} else {
			write(w, 200, `{"id":"hook_1"}`)
		}
	})
	client := New("k", WithBaseURL(url))
	must[*WhoAmI](t)(client.Whoami(ctx))
	hook := &NewWebhookEndpoint{URL: "https://example.com", Events: []string{"*"}}
	created := must[*CreatedWebhookEndpoint](t)(client.Webhooks.Create(ctx, hook, WithIdempotencyKey("one")))
	same(t, "id", created.ID, "hook_1")
	same(t, "key", (*requests)[3].Header.Get("Idempotency-Key"), "one")
	same(t, "body", (*requests)[3].body, `{"url":"https://example.com","events":["*"]}`)
	if _, err := client.Webhooks.Create(ctx, hook); err == nil || len(*requests) != 5 {
		t.Error(err, len(*requests))
	}
}

func TestTimeout(t *testing.T) {
	requests, url := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
	var late *TimeoutError
	if _, err := New("k", WithBaseURL(url), WithTimeout(500*time.Millisecond)).Whoami(ctx); !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	same(t, "requests", len(*requests), 1)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := New("k", WithBaseURL(url)).Whoami(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	requests, url := serve(t, func(w http.ResponseWriter, _ *http.Request, number int) {
		switch number {
		case 1:
			write(w, 400, `{"error":"no","code":"VALIDATION_ERROR","request_id":"r-1","details":[{"field":"page","message":"bad"}]}`)
		case 2:
			write(w, 401, "<html>", "X-Request-Id", "p-1")
		case 3:
			write(w, 302, "", "Location", "https://elsewhere.example")
		case 4:
			write(w, 503, `{"status":"error","database":"unreachable"}`)
		default:
			w.WriteHeader(204)
		}
	})
	client := New("k", WithBaseURL(url+"/analytics/api/v1/"), WithMaxRetries(0))
	_, err := client.Sessions.List(ctx, nil)
	var wrong *ValidationError
	var refused *APIError
	if !errors.As(err, &wrong) || !errors.As(err, &refused) {
		t.Fatal(err)
	}
	same(t, "error", []any{refused.Code, refused.Status, refused.RequestID, refused.Details}, "[VALIDATION_ERROR 400 r-1 [{page bad}]]")
	var unknown *UnauthorizedError
	if _, err := client.Whoami(ctx); !errors.As(err, &unknown) || unknown.RequestID != "p-1" {
		t.Error(err)
	}
	if _, err := client.Whoami(ctx); err == nil || !strings.Contains(err.Error(), "redirected to https://elsewhere") {
		t.Error(err)
	}
	same(t, "health", must[*Health](t)(client.Service.Health(ctx)).Database, "unreachable")
	same(t, "error", client.Sessions.Delete(ctx, "a/b?c"), nil)
	same(t, "address", (*requests)[4].URL.EscapedPath(), "/analytics/v1/sessions/a%2Fb%3Fc")
	for _, id := range []string{"", ".", ".."} {
		if _, err := client.Sessions.Get(ctx, id); err == nil {
			t.Errorf("%q is no id", id)
		}
	}
	same(t, "requests", len(*requests), 5)
}

func TestVerifyWebhook(t *testing.T) {
	key := []byte(strings.Repeat("\x07", 32))
	secret := "whsec_" + base64.StdEncoding.EncodeToString(key)
	body := []byte(`{"id":"evt_1","event":"webhook.test"}`)
	own := "sha256=" + hex.EncodeToString(sign([]byte(secret), body))
	standard := func(age time.Duration, more ...string) http.Header {
		at := fmt.Sprint(time.Now().Add(-age).Unix())
		signature := base64.StdEncoding.EncodeToString(sign(key, []byte("evt_1."+at+"."), body))
		header := http.Header{"Webhook-Id": {"evt_1"}, "webhook-timestamp": {at}, "Webhook-Signature": {"v1,AAAA v1," + signature}}
		for i := 0; i < len(more); i += 2 {
			header.Set(more[i], more[i+1])
		}
		return header
	}
	vector := http.Header{"X-Service-Signature-256": {"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}}
	event := must[Event](t)(VerifyWebhook([]byte("Hello, World!"), vector, "It's a Secret to Everybody"))
	same(t, "text", string(event.Data), `"Hello, World!"`)
	for _, header := range []http.Header{
		{"X-SERVICE-Signature-256": {own}}, {"x-service-signature": {own}}, {"X-Acme-Signature-256-Next": {own}},
		standard(0), standard(0, "X-Service-Signature-256", "sha256=0"), standard(400*time.Second, "X-Service-Signature", own),
	} {
		same(t, "event", must[Event](t)(VerifyWebhook(body, header, secret)).ID, "evt_1")
	}
	var unverified *WebhookVerificationError
	for _, header := range []http.Header{
		{}, standard(302 * time.Second), standard(-302 * time.Second), {"X-Service-Signature-256": {own[:70]}},
		standard(0, "Webhook-Id", "evt_2"),
	} {
		if _, err := VerifyWebhook(body, header, secret); !errors.As(err, &unverified) {
			t.Error(header, err)
		}
	}
	if _, err := VerifyWebhook(append(body, ' '), http.Header{"X-Service-Signature": {own}}, secret); !errors.As(err, &unverified) {
		t.Error(err)
	}
}

func TestJobAgainstARunningServer(t *testing.T) {
	if os.Getenv("CLOUD_ANALYTICS_SERVER") == "" {
		t.Skip("CLOUD_ANALYTICS_SERVER is not set")
	}
	client := New("", WithMaxRetries(12))
	month := SessionsListParams{DateFrom: "2026-01-01", DateTo: "2026-01-31", Sort: "created_at", Order: "asc", PerPage: 50}
	ids := map[string]bool{}
	sessions := client.Sessions.Iter(ctx, &month)
	for sessions.Next() {
		ids[sessions.Value().ID] = true
	}
	total := must[*SessionPage](t)(client.Sessions.List(ctx, &month)).Pagination.Total
	same(t, "sessions", []any{len(ids), total, sessions.Err()}, "[230 230 <nil>]")

	requests, url := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { write(w, 200, "ok") })
	hook := &NewWebhookEndpoint{URL: url, Events: []string{"*"}}
	webhook := must[*CreatedWebhookEndpoint](t)(client.Webhooks.Create(ctx, hook, WithIdempotencyKey("go-job")))
	same(t, "test", must[*WebhookTestResult](t)(client.Webhooks.Test(ctx, webhook.ID, nil)).Success, true)
	delivered := (*requests)[0]
	event := must[Event](t)(VerifyWebhook([]byte(delivered.body), delivered.Header, webhook.Secret))
	var data WebhookTestEventData
	same(t, "data", json.Unmarshal(event.Data, &data), nil)
	same(t, "event", event.Event+data.WebhookID, "webhook.test"+webhook.ID)
	if _, err := VerifyWebhook([]byte(delivered.body+" "), delivered.Header, webhook.Secret); err == nil {
		t.Error("a changed body is verified")
	}
	deliveries := client.Webhooks.Deliveries.Iter(ctx, webhook.ID, nil)
	same(t, "delivery", []any{deliveries.Next(), deliveries.Value().Status, deliveries.Next()}, "[true success false]")
	same(t, "delete", client.Webhooks.Delete(ctx, webhook.ID), nil)
	var gone *NotFoundError
	if _, err := client.Webhooks.Get(ctx, webhook.ID); !errors.As(err, &gone) || gone.RequestID == "" {
		t.Error(err)
	}
	var unknown *UnauthorizedError
	if _, err := New("wrong").Whoami(ctx); !errors.As(err, &unknown) {
		t.Error(err)
	}
	same(t, "health", must[*Health](t)(client.Service.Health(ctx)).Status, "ok")
	slug := must[*WhoAmI](t)(client.Whoami(ctx)).Organization.Slug
	same(t, "badge", must[string](t)(client.Badges.Quality(ctx, slug, nil))[:4], "<svg")
	same(t, "badge", must[*ShieldsBadge](t)(client.Badges.CostJSON(ctx, "acme", nil)).SchemaVersion, 1)
}
