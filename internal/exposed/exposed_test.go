package exposed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestCostIsOfWhatModelsSee: what goes over the wire beside it costs a model nothing.
func TestCostIsOfWhatModelsSee(t *testing.T) {
	spec := toolcrib.Spec{Name: "a", Description: "Does it.", Input: json.RawMessage(`{"type":"object"}`), Effects: toolcrib.Reads}
	bare, err := CostOf("mcp", []toolcrib.Entry{{Spec: spec}})
	if err != nil {
		t.Fatal(err)
	}
	spec.Title = strings.Repeat("title ", 50)
	spec.Output = json.RawMessage(`{"type":"object","description":"` + strings.Repeat("long ", 500) + `"}`)
	full, err := CostOf("mcp", []toolcrib.Entry{{Spec: spec}})
	if err != nil || full[0] != bare[0] || bare[0].Tokens > 25 {
		t.Errorf("%+v, %+v, %v", bare, full, err)
	}
	spec.Description += strings.Repeat(" More words.", 100)
	if more, err := CostOf("mcp", []toolcrib.Entry{{Spec: spec}}); err != nil || more[0].Tokens < bare[0].Tokens+200 {
		t.Errorf("%+v, %v", more, err)
	}
}
