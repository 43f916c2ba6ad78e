package dialect

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib"
)

// A toolbox of OpenVoiceOS that is switched off is there all the same, and its
// tools answer that they are off. Ours is not on the shelves then: for callers
// over the bus, what follows stands in its place.

// errOff marks the answer of a tool that is switched off.
var errOff = errors.New("switched off")

// OVOSOff gives what stands in for a box that is switched off: a box that does
// nothing, and the adapters to use instead of those for the real one. Nil: the
// original does not know this box as one that can be off.
func OVOSOff(box string) (toolcrib.Toolbox, []toolcrib.Adapter) {
	var native, why string
	var answer func(input json.RawMessage) *toolcrib.Result
	switch box {
	case "shell":
		native, why = "run_command", "running commands is switched off; toolboxes.shell.allow_shell: true in the configuration switches it on"
		answer = func(json.RawMessage) *toolcrib.Result { return notRun(shellDisabled) }
	case "web":
		// The original has no switch for it, only a package that may be missing. Whoever
		// asks is told how it is switched on here, by a sentence and the detail.
		native, why = "web_search", "searching the web is switched off; toolboxes.web.enabled: true in the configuration of Toolcrib switches it on"
		answer = func(json.RawMessage) *toolcrib.Result { return nil }
	default:
		return nil, nil
	}
	off := func() error {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: native, Message: why, Err: errOff}
	}
	var adapters []toolcrib.Adapter
	for _, a := range ovosAdapters(Options{}) {
		if a.Box != box || a.Native != native {
			continue
		}
		a.In = func(json.RawMessage) (json.RawMessage, error) { return nil, off() }
		a.Refused = func(input json.RawMessage, e *toolcrib.Error) *toolcrib.Result {
			if !errors.Is(e, errOff) {
				return nil
			}
			return answer(input)
		}
		adapters = append(adapters, a)
	}
	return toolcrib.NewBox(box, toolcrib.Tool{
		Spec: toolcrib.Spec{Name: native, Description: "Switched off.", Effects: toolcrib.Pure, Group: "off"},
		Run: func(_ context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
			return nil, off()
		},
	}), adapters
}
