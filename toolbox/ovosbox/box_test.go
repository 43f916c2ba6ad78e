package ovosbox

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// What every toolbox promises holds over a bus too, if the host is a good one
// and the owner of the program says what its tools do.
func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		b := startBus(t, "127.0.0.1:0")
		h := &host{gen: g1, id: "echo-tools"}
		args := `{"additionalProperties":false,"properties":{"text":{"description":"The text.","title":"Text","type":"string"}},"required":["text"],"title":"EchoArgs","type":"object"}`
		out := `{"properties":{"text":{"title":"Text","type":"string"}},"required":["text"],"title":"EchoOutput","type":"object"}`
		h.put("echo", entry("echo", "Says it again.", args, out), func(args map[string]any) (any, string) {
			text, ok := args["text"].(string)
			if !ok {
				return nil, "ValueError: Tool input validation failed for 'echo' in ToolBox 'echo-tools'"
			}
			return map[string]any{"text": text}, ""
		})
		h.start(t, b)
		box, err := Open(t.Context(), Config{Window: time.Second, Fresh: time.Minute, Effects: map[string]toolcrib.Effects{"echo-tools": toolcrib.Pure}}, port{b.client(t, nil)})
		if err != nil {
			t.Fatal(err)
		}
		return box
	})
}
