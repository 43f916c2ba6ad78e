package main

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
)

// TestRun: the model calls the tool, gets its result and answers.
func TestRun(t *testing.T) {
	server := modeltest.New(t,
		modeltest.Turn{Calls: []modeltest.Call{{Name: "count_words", Arguments: `{"text":"to be or not to be"}`}}},
		modeltest.Turn{Text: "It has six words."})
	var out strings.Builder
	where := model.Endpoint{BaseURL: server.Base("openai"), Model: "scripted", Traits: model.Traits{Tools: true}}
	if err := run(t.Context(), where, "How many words has: to be or not to be?", &out); err != nil {
		t.Fatal(err)
	}
	if want := "[count_words {\"text\":\"to be or not to be\"}]\nIt has six words.\n"; out.String() != want {
		t.Errorf("it printed %q, want %q", out.String(), want)
	}
	if got := server.Requests()[1].Results(); len(got) != 1 || !strings.Contains(got[0], "6") {
		t.Errorf("the model got %q", got)
	}
}
