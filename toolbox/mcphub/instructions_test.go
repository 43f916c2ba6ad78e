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

// TestInstructionsOfOnePerson: what the server of one person tells models is not what
// the models of others are told.
func TestInstructionsOfOnePerson(t *testing.T) {
	r := &rogue{tools: echo}
	d := house(t, t.TempDir(), r, Server{Instance: PerPerson})
	d.refresh()
	shared := instructionsDefinition("Search first.")
	d.box.mu.Lock()
	d.box.manifest.Instructions, d.box.manifest.InstructionsSum = shared, "sum"
	d.box.mu.Unlock()
	m := &manifest{Instructions: instructionsDefinition("I work for Ann."), InstructionsSum: "other"}
	d.box.learning.Lock()
	d.box.split("ann", m)
	d.box.learning.Unlock()
	if string(m.Instructions) != string(shared) || m.InstructionsSum != "sum" {
		t.Errorf("everybody is told %s", m.Instructions)
	}
}
