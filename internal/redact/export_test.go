package redact_test

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib/internal/redact"
)

func TestRedactText(t *testing.T) {
	const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
	const shown = "-----BEGIN RSA PRIVATE KEY-----\n[redacted]\n-----END RSA PRIVATE KEY-----"
	for in, want := range map[string]string{
		"plain":                        "plain",
		"before\n" + key + "\nafter":   "before\n" + shown + "\nafter",
		"cut off\n" + key[:48]:         "cut off\n" + shown[:32] + "[redacted]",
		key + " and " + key:            shown + " and " + shown,
		"-----BEGIN CERTIFICATE-----x": "-----BEGIN CERTIFICATE-----x",
		"-----BEGIN ":                  "-----BEGIN ",
		"API_KEY=hunter2 make":         "API_KEY=[redacted] make",
	} {
		if got := redact.Text(in); got != want {
			t.Errorf("RedactText(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRedactExported(t *testing.T) {
	if got, want := string(redact.JSON(json.RawMessage(`{"password":"x","a":1}`))), `{"password":"[redacted]","a":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !redact.SecretName("API-Keys") || redact.SecretName("author") {
		t.Error("the names of secrets are told otherwise than by Redact")
	}
}
