package mcphub

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRestOfResults: what a server adds to a result goes on, but no questions,
// and nothing that was read already and is written in another case.
func TestRestOfResults(t *testing.T) {
	got, err := (&Box{name: "s"}).readResult(json.RawMessage(`{"content":[],"Content":[{"type":"text","text":"RAW"}],"more":1,"ResultType":"input_required","requeststate":"s",
		"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","url":"javascript:1"}}},"StructuredContent":{"a":"RAW"},"ISERROR":true}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"RAW", "javascript", "input_required", "ISERROR", "requeststate"} {
		if strings.Contains(string(got.More), bad) {
			t.Errorf("%s passes: %s", bad, got.More)
		}
	}
	if string(got.More) != `{"more":1}` {
		t.Errorf("%s", got.More)
	}
}
