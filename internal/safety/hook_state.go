package safety

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib"
)

// MaxState is the most bytes of a state that are kept beside a record.
const MaxState = 8 << 10

// State asks a hook, after a call was made and before its caller is answered,
// what there is to keep beside its record: {"state": …} with any JSON, null for
// nothing. The hook gets the call as the journal keeps it, without secrets, and
// has no say in anything: an answer with something else in it is none.
func (h *Hook) State(ctx context.Context, r *toolcrib.Record, spec toolcrib.Entry) (json.RawMessage, error) {
	if !h.concerns(&spec) {
		return nil, nil
	}
	req := HookRequest{
		Version: 1, Phase: "state", Spec: spec, Input: r.Input, Result: r.Result, Outcome: r.Outcome,
		Call: HookCall{ID: r.ID, Tool: r.Tool, Parent: r.Parent, Caller: r.Caller},
	}
	if len(req.Input) == 0 {
		req.Input = json.RawMessage("{}")
	}
	request, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("asking the hook %s: %w", h.Name, err)
	}
	text, err := h.exchange(ctx, request)
	if err != nil {
		return nil, err
	}
	state, err := decodeState(text)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of the hook %s: %w", h.Name, err)
	}
	return state, nil
}

// decodeState takes exactly what a hook may answer then.
func decodeState(text []byte) (json.RawMessage, error) {
	if len(text) > MaxState+1<<10 {
		return nil, fmt.Errorf("it has more than %d bytes", MaxState+1<<10)
	}
	if err := exactKeys(text, "state"); err != nil {
		return nil, err
	}
	var reply struct {
		State json.RawMessage `json:"state"`
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return nil, fmt.Errorf("it is not an answer: %w", err)
	}
	var small bytes.Buffer
	switch {
	case reply.State == nil:
		return nil, errors.New("it has no state")
	case string(reply.State) == "null":
		return nil, nil
	case len(reply.State) > MaxState:
		return nil, fmt.Errorf("its state has more than %d bytes", MaxState)
	}
	if err := json.Compact(&small, reply.State); err != nil {
		return nil, fmt.Errorf("it is not an answer: %w", err)
	}
	return small.Bytes(), nil
}
