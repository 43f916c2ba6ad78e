package safety

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// HookRequest is what a hook is sent, as one JSON object.
type HookRequest struct {
	Version int             `json:"version"` // 1
	Phase   string          `json:"phase"`   // judge, vet or state
	Call    HookCall        `json:"call"`
	Spec    toolcrib.Entry  `json:"spec"`  // of the native tool
	Input   json.RawMessage `json:"input"` // of the native tool
	// Unfit says what of the input does not fit the schema of a tool of others,
	// which gets it all the same and may read it in another way. No value is in it.
	Unfit  []toolcrib.FieldError `json:"unfit,omitempty"`
	Result json.RawMessage       `json:"result,omitempty"` // when vetting, and of a call that was made
	// Outcome is how a call that was made ended: done, failed, timeout or cancelled.
	Outcome toolcrib.Outcome `json:"outcome,omitempty"`
}

// HookCall is the call that a hook is asked about.
type HookCall struct {
	ID     string          `json:"id"`
	Tool   string          `json:"tool"` // as called
	Parent string          `json:"parent,omitempty"`
	Caller toolcrib.Caller `json:"caller"`
}

// HookReply is what a hook answers, as one JSON object and nothing else. To
// judge it gives a decision, and may give a reason. To vet it gives the result
// to go on with, or the decision deny to hold it back.
type HookReply struct {
	Decision *toolcrib.Decision `json:"decision"`
	Reason   string             `json:"reason"`
	Result   *toolcrib.Result   `json:"result"`
}

const (
	maxVerdictReply = 64 << 10
	maxHookReason   = 2 << 10
	// MaxHookReply is the most that a runner has to read of an answer; more is
	// no answer.
	MaxHookReply = 32 << 20
)

func encodeHook(phase string, r toolcrib.Review, result *toolcrib.Result) ([]byte, error) {
	req := HookRequest{
		Version: 1, Phase: phase, Spec: r.Spec, Input: r.Input, Unfit: r.Unfit,
		Call: HookCall{ID: r.Call.ID, Tool: r.Call.Tool, Parent: r.Call.Parent, Caller: r.Call.Caller},
	}
	if len(req.Input) == 0 {
		req.Input = json.RawMessage("{}")
	}
	if result != nil {
		text, err := json.Marshal(result)
		if err != nil {
			return nil, err
		}
		req.Result = text
	}
	return json.Marshal(req)
}

// decodeHook takes exactly what a hook may answer. sent is the length of the
// request: a result may grow, but not without bound.
func decodeHook(phase string, text []byte, sent int) (*HookReply, error) {
	limit := maxVerdictReply
	if phase == "vet" {
		limit = min(4*sent+maxVerdictReply, MaxHookReply)
	}
	if len(text) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	if err := exactKeys(text, "decision", "reason", "result"); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var r HookReply
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("it is not an answer: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the answer")
	}
	switch {
	case phase == "judge" && r.Decision == nil:
		return nil, errors.New("it has no decision")
	case phase == "judge" && r.Result != nil:
		return nil, errors.New("it has a result, and there is none to judge")
	case phase == "vet" && (r.Decision == nil) == (r.Result == nil):
		return nil, errors.New("it must have either a result or the decision deny")
	case phase == "vet" && r.Decision != nil && *r.Decision != toolcrib.Deny:
		return nil, errors.New("a result is given back or denied, nothing else")
	}
	return &r, validContent(r.Result)
}

// exactKeys refuses what two readers could take for two answers: a key that is
// there twice, or one written otherwise, which Go would take for the same.
func exactKeys(reply []byte, known ...string) error {
	if err := uniqueKeys(reply); err != nil {
		return err
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(reply, &top); err != nil {
		return fmt.Errorf("it is not an answer: %w", err)
	}
	for key := range top {
		if !slices.Contains(known, key) {
			return fmt.Errorf("it is not an answer: it has %q", text.ClipMiddle(key, 400))
		}
	}
	return nil
}

// validContent refuses pieces of a kind that frontends do not know.
func validContent(r *toolcrib.Result) error {
	if r == nil {
		return nil
	}
	for i := range r.Content {
		switch r.Content[i].Type {
		case "text", "image", "audio", "resource", "link":
		default:
			return fmt.Errorf("the result has content of the unknown type %q", text.ClipMiddle(r.Content[i].Type, 400))
		}
	}
	return nil
}

// reason is the hook's own, in one line and harmless.
func (r *HookReply) reason() string {
	text := strings.Join(strings.Fields(r.Reason), " ")
	if len(text) > maxHookReason {
		text = strings.ToValidUTF8(text[:maxHookReason], "") + "…"
	}
	if text == "" {
		return "it gave no reason"
	}
	return Neutral(text)
}
