// Receives webhooks: WEBHOOK_SECRET=whsec_… PORT=8000 go run ./examples/receiver
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	cloudanalytics "example.com/cloud-analytics/clients/go"
)

func receive(w http.ResponseWriter, r *http.Request) {
	// the body as it came: parsed and serialized again it has another signature
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	event, err := cloudanalytics.VerifyWebhook(body, r.Header, os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	// the same id comes again when an answer was lost: remember those that are done
	fmt.Println(event.ID, event.Event, string(event.Data))
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8000"
	}
	log.Fatal(http.ListenAndServe(":"+port, http.HandlerFunc(receive)))
}
