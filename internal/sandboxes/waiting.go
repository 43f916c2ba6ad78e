package sandboxes

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox/linux"
)

// Waiting is a layer of commands whose changes nobody has answered for.
type Waiting = linux.Kept

// settled says more of a layer that is not there.
func settled(err error) error {
	if errors.Is(err, linux.ErrSettled) {
		return &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "the layer does not wait for an answer any more: it was applied or dropped meanwhile"}
	}
	return err
}

// applyTool is the name of the tool that applies what waits.
const applyTool = "apply_layer"

// WaitingBoxName is the name of its box, which nothing else may have.
const WaitingBoxName = "layers"

// WaitingBox has one tool, which has one layer judged and applied. Only a person's own
// command opens one: no agent has this tool.
type WaitingBox struct {
	layers Layers
	layer  Waiting
	shown  string
}

// Open looks at a layer that waits.
func (l Layers) Open(ctx context.Context, id string) (*WaitingBox, error) {
	changes, layer, err := linux.OpenKept(ctx, l.dir(), id, "")
	if err != nil {
		return nil, settled(err)
	}
	b := &WaitingBox{layers: l, layer: layer, shown: changes.Show(func(string) bool { return true })}
	return b, changes.Drop() // it waits further on
}

// Shown tells what would be applied, with the differences.
func (b *WaitingBox) Shown() string { return b.shown }

// Layer is what is known of the layer.
func (b *WaitingBox) Layer() Waiting { return b.layer }

// Name is the name of the box.
func (b *WaitingBox) Name() string { return WaitingBoxName }

type applyIn struct {
	Layer string `json:"layer" minlen:"1" maxlen:"64" doc:"The layer."`
}

type applyOut struct {
	Layer string `json:"layer" doc:"The layer."`
}

// Tools lists the tool of the box.
func (b *WaitingBox) Tools(context.Context) ([]toolcrib.Tool, error) {
	t := toolcrib.Define(toolcrib.Spec{
		Name: applyTool, Title: "Apply what commands changed", Group: "fs", Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys,
		Description: "Applies what commands changed on a layer that waits for an answer, as far as the rules allow it. Only a person's own command has this tool.",
	}, func(ctx context.Context, env *toolcrib.Env, in applyIn) (applyOut, error) {
		if in.Layer != b.layer.ID {
			return applyOut{}, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "this is not the layer that was to be applied"}
		}
		changes, _, err := linux.OpenKept(ctx, b.layers.dir(), b.layer.ID, b.layer.Dir)
		if err != nil {
			return applyOut{}, settled(err)
		}
		if !env.Settle(changes) {
			return applyOut{}, errors.Join(errors.New("the call is over"), changes.Drop())
		}
		return applyOut{Layer: b.layer.ID}, nil
	})
	t.Preview = func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) { return b.shown, nil }
	return []toolcrib.Tool{t}, nil
}

// Call is the call that applies the layer.
func (b *WaitingBox) Call(caller toolcrib.Caller) toolcrib.Call {
	return toolcrib.Call{Tool: applyTool, Input: []byte(`{"layer":"` + b.layer.ID + `"}`), Caller: caller} // an ID has no signs
}
