package cloudanalytics

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far webhook-timestamp may be from now.
const tolerance = 5 * time.Minute

// the word between X- and -Signature is a setting of the server
var ownSignature = regexp.MustCompile(`^x-.+-signature(-256(-next)?)?$`)

// Event is what a webhook delivery says. Data is that of its Event: SessionCompletedEventData and its like.
type Event struct {
	ID         string          `json:"id"` // the same at every attempt and redelivery
	Event      string          `json:"event"`
	Type       string          `json:"type"`      // the same as Event
	Timestamp  string          `json:"timestamp"` // when it happened: UTC, milliseconds
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// VerifyWebhook gives the event of a webhook delivery, once its signature is verified. payload is the body as it came:
// parsed and serialized again it has another signature. secret is the endpoint's signing secret, whsec_…. It is a
// *WebhookVerificationError where no signature is right, or the only right one is older than 5 minutes. A signed body
// that is not JSON is an Event that has only its text, as a JSON string in Data.
func VerifyWebhook(payload []byte, header http.Header, secret string) (Event, error) {
	var event Event
	if reason := problemOf(payload, header, secret); reason != "" {
		return event, &WebhookVerificationError{reason}
	}
	if json.Unmarshal(payload, &event) != nil {
		text, err := json.Marshal(string(payload))
		return Event{Data: text}, err
	}
	return event, nil
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

func problemOf(payload []byte, header http.Header, secret string) string {
	if secret == "" {
		return "no secret is given"
	}
	given := map[string]string{}
	for name, values := range header {
		if len(values) > 0 {
			given[strings.ToLower(name)] = values[0]
		}
	}
	own, isSigned := []byte("sha256="+hex.EncodeToString(sign([]byte(secret), payload))), false
	problem := "there is no signature"
	for name, value := range given {
		if ownSignature.MatchString(name) {
			problem = "the signature is of another body or secret"
			isSigned = hmac.Equal([]byte(value), own) || isSigned
		}
	}
	signatures, ok := given["webhook-signature"]
	if isSigned {
		return ""
	}
	if !ok {
		return problem
	}
	sentAt, err := strconv.ParseInt(given["webhook-timestamp"], 10, 64)
	age := time.Since(time.Unix(sentAt, 0))
	if err != nil || age > tolerance || age < -tolerance {
		return fmt.Sprintf("webhook-timestamp is not within %v of now", tolerance)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return "the secret is none of a webhook endpoint"
	}
	head := given["webhook-id"] + "." + given["webhook-timestamp"] + "."
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(sign(key, []byte(head), payload)))
	for _, one := range strings.Split(signatures, " ") {
		isSigned = hmac.Equal([]byte(one), expected) || isSigned
	}
	if !isSigned {
		return "the signature is of another body or secret"
	}
	return ""
}
