package cloudanalytics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// APIError is an answer that is an error. The types below have one for each code; errors.As finds either.
type APIError struct {
	Message string
	// Code is NOT_FOUND and its like.
	Code string
	// Status is the HTTP status.
	Status int
	// RequestID names the request in the server's log; empty where a proxy answered.
	RequestID string
	// Details are the fields that are wrong.
	Details []ErrorDetail
	// RetryAfter is how long the server asks to wait; 0 where it does not.
	RetryAfter time.Duration
}

// ErrorDetail is a field that is wrong.
type ErrorDetail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (e *APIError) Error() string {
	named := ""
	if e.RequestID != "" {
		named = ", request " + e.RequestID
	}
	return fmt.Sprintf("cloudanalytics: %s (%s, %d%s)", e.Message, e.Code, e.Status, named)
}

type (
	// UnauthorizedError (401): the key is missing, wrong, expired or revoked.
	UnauthorizedError struct{ *APIError }
	// ForbiddenError (403): the key lacks the scope that the message names, or the plan does not have it.
	ForbiddenError struct{ *APIError }
	// NotFoundError (404): there is no such thing in this organization.
	NotFoundError struct{ *APIError }
	// RateLimitedError (429): still so after the retries.
	RateLimitedError struct{ *APIError }
	// ValidationError (400 and its like): Details name what is wrong.
	ValidationError struct{ *APIError }
	// InternalError (5xx): the server failed, or its database is away.
	InternalError struct{ *APIError }
)

// Unwrap is the APIError.
func (e *UnauthorizedError) Unwrap() error { return e.APIError }

// Unwrap is the APIError.
func (e *ForbiddenError) Unwrap() error { return e.APIError }

// Unwrap is the APIError.
func (e *NotFoundError) Unwrap() error { return e.APIError }

// Unwrap is the APIError.
func (e *RateLimitedError) Unwrap() error { return e.APIError }

// Unwrap is the APIError.
func (e *ValidationError) Unwrap() error { return e.APIError }

// Unwrap is the APIError.
func (e *InternalError) Unwrap() error { return e.APIError }

// TimeoutError means that no whole answer came within the timeout. It is not tried again.
type TimeoutError struct{ Err error }

func (e *TimeoutError) Error() string { return "cloudanalytics: no answer in time: " + e.Err.Error() }

// Unwrap is what net/http says; errors.Is finds context.DeadlineExceeded.
func (e *TimeoutError) Unwrap() error { return e.Err }

// Timeout is true, as of all errors of time.
func (e *TimeoutError) Timeout() bool { return true }

// WebhookVerificationError means that a payload is not signed by this secret, or too old.
type WebhookVerificationError struct{ Reason string }

func (e *WebhookVerificationError) Error() string { return "cloudanalytics: " + e.Reason }

// errorOf is the error that an answer is; one that is not the server's own, as of a proxy, by its status.
func errorOf(answer *response, asked *time.Duration) error {
	var body struct {
		Error     string        `json:"error"`
		Code      string        `json:"code"`
		RequestID string        `json:"request_id"`
		Details   []ErrorDetail `json:"details"`
	}
	_ = json.Unmarshal(answer.content, &body)
	e := &APIError{body.Error, body.Code, answer.status, body.RequestID, body.Details, 0}
	if asked != nil {
		e.RetryAfter = *asked
	}
	if e.RequestID == "" {
		e.RequestID = answer.header.Get("X-Request-Id")
	}
	if location := answer.header.Get("Location"); e.Message == "" && answer.status < 400 && location != "" {
		e.Message = "redirected to " + location + ": give its address to WithBaseURL"
	} else if e.Message == "" {
		e.Message = "HTTP status " + http.StatusText(answer.status)
	}
	if e.Code == "" {
		e.Code = codeOf(answer.status)
	}
	switch e.Code {
	case "UNAUTHORIZED":
		return &UnauthorizedError{e}
	case "FORBIDDEN":
		return &ForbiddenError{e}
	case "NOT_FOUND":
		return &NotFoundError{e}
	case "RATE_LIMITED":
		return &RateLimitedError{e}
	case "VALIDATION_ERROR":
		return &ValidationError{e}
	case "INTERNAL_ERROR":
		return &InternalError{e}
	}
	return e
}

func codeOf(status int) string {
	switch {
	case status == 401:
		return "UNAUTHORIZED"
	case status == 403:
		return "FORBIDDEN"
	case status == 404 || status == 405:
		return "NOT_FOUND"
	case status == 429:
		return "RATE_LIMITED"
	case status >= 400 && status < 500:
		return "VALIDATION_ERROR"
	}
	return "INTERNAL_ERROR"
}
