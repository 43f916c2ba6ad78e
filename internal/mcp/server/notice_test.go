package server

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestPromptKeepsItsNotice: what is said about a prompt is in the first text that a model is
// shown, of whichever kind the prompt's own words are.
func TestPromptKeepsItsNotice(t *testing.T) {
	contents := []toolcrib.Content{{Type: "text", Text: "[mark]", Notice: true}, {Type: "text", Text: "not this"}}
	for given, want := range map[string]string{
		`[{"role":"user","content":{"type":"text","text":"Do it."}},{"role":"user","content":{"type":"text","text":"Now."}}]`: `[{"content":{"text":"[mark]\n\nDo it.","type":"text"},"role":"user"},{"content":{"type":"text","text":"Now."},"role":"user"}]`,
		`[{"role":"assistant","content":{"type":"image","data":"eA==","mimeType":"image/png"}}]`:                              `[{"content":{"type":"text","text":"[mark]\n\n"},"role":"user"},{"content":{"type":"image","data":"eA==","mimeType":"image/png"},"role":"assistant"}]`,
		`[]`: ``,
	} {
		if got, err := withNotices(json.RawMessage(given), contents); err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", given, got, err, want)
		}
		if got, err := withNotices(json.RawMessage(given), contents[1:]); got != nil || err != nil {
			t.Errorf("%s has a notice that nobody gave: %s, %v", given, got, err)
		}
	}
	if got, err := withNotices(json.RawMessage(`"Do it."`), contents); err == nil {
		t.Errorf("a prompt that cannot be marked is passed on: %s", got)
	}
	if got, err := withNotices(nil, contents); got != nil || err != nil {
		t.Errorf("a completion has messages: %s, %v", got, err)
	}
}
