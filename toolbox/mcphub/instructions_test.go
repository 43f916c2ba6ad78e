package mcphub

import (
	"encoding/json"
	"testing"
)

// TestToolCalledInstructions: a tool cannot stand for instructions that were
// approved.
func TestToolCalledInstructions(t *testing.T) {
	defs, faults := read([]json.RawMessage{json.RawMessage(`{"name":"@instructions","instructions":"x","inputSchema":{"type":"object"}}`)}, "s")
	if len(defs) != 0 || len(faults) != 1 {
		t.Errorf("%v, %v", defs, faults)
	}
	if instructionsDefinition(" \n") != nil {
		t.Error("empty ones are some")
	}
}
