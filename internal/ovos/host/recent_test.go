package host

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// TestWhatIsKnownOfCallsIsBounded: whoever calls chooses how large a context is, and
// contexts stay after the call.
func TestWhatIsKnownOfCallsIsBounded(t *testing.T) {
	h := &Host{}
	kept := func() (size int) {
		for id, m := range h.recent.calls {
			size += len(id)
			for key, value := range m.Context {
				size += len(key) + len(value)
			}
		}
		return size
	}
	for i := range 2 * maxRecent {
		context := map[string]json.RawMessage{"x": json.RawMessage(`"` + strings.Repeat("x", i<<11) + `"`)}
		h.recent.add(fmt.Sprint(i), bus.Message{Type: "t", Context: context})
	}
	if got := kept(); got > maxRecent*(maxRecentContext+64) {
		t.Errorf("%d bytes are kept", got)
	}
	if _, known := h.About("1"); !known {
		t.Error("an ordinary call is not known")
	}
	if _, known := h.About("511"); known {
		t.Error("one with a mebibyte is")
	}
}
