// Package cloudanalytics is a client of a Cloud Analytics server.
//
// Money is in US dollars, scores are 0 to 100, times UTC, days YYYY-MM-DD in UTC with both ends of a range included.
// Fields have the names of the API.
package cloudanalytics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const (
	defaultURL        = "http://127.0.0.1:8080"
	defaultTimeout    = 30 * time.Second
	defaultRetries    = 2
	firstDelay        = 500 * time.Millisecond // before the first retry, doubled for each further one
	longestDelay      = 8 * time.Second
	longestRetryAfter = 5 * time.Minute // a server that asks to wait longer is not waited for
)

// Client has the API's methods. Several goroutines may use it.
type Client struct{ Resources }

type core struct {
	root       string
	key        string
	keyError   error
	timeout    time.Duration
	maxRetries int
	http       *http.Client
}

// Option sets something of a Client.
type Option func(*core)

// WithBaseURL sets the server's address; without it, it is the environment's CLOUD_ANALYTICS_SERVER, else
// http://127.0.0.1:8080.
func WithBaseURL(address string) Option { return func(c *core) { c.root = address } }

// WithTimeout sets how long one attempt may take, its answer included; 30 s without it.
func WithTimeout(timeout time.Duration) Option { return func(c *core) { c.timeout = timeout } }

// WithMaxRetries sets how many attempts there are after the first; 2 without it. What is safe to repeat is repeated
// (reading, Sync, WithIdempotencyKey), after 408, 429, 502, 503, 504 and broken connections.
func WithMaxRetries(retries int) Option { return func(c *core) { c.maxRetries = retries } }

// WithHTTPClient sets what sends the requests, for a proxy or certificates of your own. Redirects are not followed.
func WithHTTPClient(client *http.Client) Option {
	return func(c *core) {
		own := *client
		c.http = &own
	}
}

// New makes a client. An empty apiKey is that of the environment's CLOUD_ANALYTICS_KEY; badges and Service need none. Of one
// with a space or a character beyond ASCII inside, every request is an error.
func New(apiKey string, options ...Option) *Client {
	c := &core{
		root: os.Getenv("CLOUD_ANALYTICS_SERVER"), key: apiKey, timeout: defaultTimeout, maxRetries: defaultRetries,
		http: &http.Client{},
	}
	for _, option := range options {
		option(c)
	}
	if c.root == "" {
		c.root = defaultURL
	}
	c.root = strings.TrimRight(c.root, "/")
	c.root = strings.TrimSuffix(strings.TrimSuffix(c.root, "/api/v1"), "/v1")
	if c.key == "" {
		c.key = os.Getenv("CLOUD_ANALYTICS_KEY")
	}
	c.key = strings.TrimSpace(c.key)
	if strings.IndexFunc(c.key, func(r rune) bool { return r < '!' || r > '~' }) >= 0 {
		c.keyError = errors.New("cloudanalytics: the API key must be of printable ASCII characters without a space")
	}
	// another server does not get the key
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{newResources(c)}
}

// RequestOption sets something of one request.
type RequestOption func(http.Header)

// WithIdempotencyKey names what a request makes: the same request again within 24 hours makes it once, so that it may
// be repeated.
func WithIdempotencyKey(key string) RequestOption {
	return func(header http.Header) { header.Set("Idempotency-Key", key) }
}

// Empty as a filter finds what has none: sessions without a project. An empty string is a filter that is not given.
const Empty = "\x00"

// Ptr makes an optional parameter of a value.
func Ptr[T any](value T) *T { return &value }

// Nullable is a field of a change that may be cleared: Value sets it, Null clears it.
type Nullable[T any] struct{ value *T }

// Value sets a field.
func Value[T any](value T) *Nullable[T] { return &Nullable[T]{&value} }

// Null clears a field.
func Null[T any]() *Nullable[T] { return &Nullable[T]{} }

// MarshalJSON is the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// NoParams are the parameters of a list that has none.
type NoParams struct{}

type request struct {
	method, path string
	query, body  any
	options      []RequestOption
	answers503   bool
}

type response struct {
	status  int
	header  http.Header
	content []byte
}

// path puts ids into their places of a template.
func path(template string, ids ...string) string {
	for _, id := range ids {
		start, end := strings.Index(template, "{"), strings.Index(template, "}")
		if id == "" || id == "." || id == ".." {
			return "" // send refuses it
		}
		template = template[:start] + url.PathEscape(id) + template[end+1:]
	}
	return template
}

func call[T any](ctx context.Context, c *core, r request) (*T, error) {
	answer, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	result := new(T)
	if len(answer.content) == 0 {
		return result, nil
	}
	if err := json.Unmarshal(answer.content, result); err != nil {
		return nil, fmt.Errorf("%s %s: the answer is not what was expected: %w", r.method, r.path, err)
	}
	return result, nil
}

func callText(ctx context.Context, c *core, r request) (string, error) {
	answer, err := c.send(ctx, r)
	if err != nil {
		return "", err
	}
	return string(answer.content), nil
}

// send sends a request, again where that is safe and may help.
func (c *core) send(ctx context.Context, r request) (*response, error) {
	if c.keyError != nil {
		return nil, c.keyError
	}
	if r.path == "" {
		return nil, errors.New("cloudanalytics: an id is empty or a dot")
	}
	query, err := queryOf(r.query)
	if err != nil {
		return nil, err
	}
	header := http.Header{"User-Agent": {"cloud-analytics-go/" + version}, "Accept": {"application/json"}}
	if machine := query.Get("machine"); machine != "" {
		header.Set("X-Machine", machine)
		query.Del("machine")
	}
	var content []byte
	if r.body != nil && !isNil(r.body) {
		if records, ok := r.body.(lines); ok {
			content = records
			header.Set("Content-Type", "application/x-ndjson")
		} else if content, err = json.Marshal(r.body); err != nil {
			return nil, err
		} else {
			header.Set("Content-Type", "application/json")
		}
	}
	if c.key != "" {
		header.Set("Authorization", "Bearer "+c.key)
	}
	for _, option := range r.options {
		option(header)
	}
	address := c.root + r.path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	isSafe := r.method == "GET" || r.path == "/v1/sync" || header.Get("Idempotency-Key") != ""
	for attempt := 0; ; attempt++ {
		delay := backOff(attempt)
		answer, err := c.once(ctx, r.method, address, header, content)
		mayHelp := false
		if err != nil {
			var late *TimeoutError
			mayHelp = ctx.Err() == nil && !errors.As(err, &late)
		} else if answer.status < 300 || (answer.status == 503 && r.answers503 && !bytes.Contains(answer.content, []byte(`"code"`))) {
			return answer, nil
		} else {
			asked := retryAfter(answer.header)
			if asked != nil {
				delay = *asked
			}
			mayHelp = isRetried(answer.status) && delay <= longestRetryAfter
			err = errorOf(answer, asked)
		}
		if !isSafe || !mayHelp || attempt >= c.maxRetries {
			return nil, err
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// once makes one attempt, within the timeout.
func (c *core) once(ctx context.Context, method, address string, header http.Header, content []byte) (*response, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	sent, err := http.NewRequestWithContext(limited, method, address, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	sent.Header = header
	// net/http repeats requests by itself where it may rewind the body: how often is decided here
	sent.GetBody = nil
	answer, err := c.http.Do(sent)
	var body []byte
	if err == nil {
		defer answer.Body.Close()
		body, err = io.ReadAll(answer.Body)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, &TimeoutError{err}
		}
		return nil, fmt.Errorf("cloudanalytics: %w", err)
	}
	return &response{answer.StatusCode, answer.Header, body}, nil
}

func isRetried(status int) bool {
	return status == 408 || status == 429 || status == 502 || status == 503 || status == 504
}

func backOff(attempt int) time.Duration {
	delay := longestDelay
	if attempt < 4 {
		delay = firstDelay << attempt
	}
	return delay*3/4 + time.Duration(rand.Int63n(int64(delay)/4))
}

// retryAfter is what Retry-After asks for, in seconds or as a date.
func retryAfter(header http.Header) *time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	var delay time.Duration
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		delay = time.Duration(seconds * float64(time.Second))
	} else if at, err := http.ParseTime(value); err == nil {
		delay = time.Until(at)
	} else {
		return nil
	}
	if delay < 0 {
		delay = 0
	}
	return &delay
}

func isNil(value any) bool {
	kind := reflect.ValueOf(value)
	return kind.Kind() == reflect.Pointer && kind.IsNil()
}

// queryOf is the query of a struct of parameters, by its JSON.
func queryOf(params any) (url.Values, error) {
	query := url.Values{}
	if params == nil || isNil(params) {
		return query, nil
	}
	content, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	for name, value := range fields {
		if value == Empty {
			value = ""
		}
		query.Set(name, fmt.Sprint(value))
	}
	return query, nil
}

func first[T any](params []*T) any {
	if len(params) == 0 {
		return nil
	}
	return params[0]
}

// lines are records as NDJSON: the server takes more of them than in one JSON text.
type lines []byte

// syncBody is the body of Sync: records are a slice of records, of one type or several, or of anything of their JSON.
func syncBody(records any) (any, error) {
	list := reflect.ValueOf(records)
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return nil, fmt.Errorf("cloudanalytics: records must be a slice, not %T", records)
	}
	if list.Len() == 0 {
		return map[string]any{"records": []any{}}, nil
	}
	var all lines
	for i := 0; i < list.Len(); i++ {
		one := list.Index(i).Interface()
		line, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		if record, ok := one.(interface{ recordType() string }); ok {
			line = append([]byte(`{"type":"`+record.recordType()+`",`), line[1:]...)
		}
		all = append(append(all, line...), '\n')
	}
	return all, nil
}
