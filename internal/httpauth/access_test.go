package httpauth

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestApprovesForNeedsApproves: a setting that would do nothing is refused.
func TestApprovesForNeedsApproves(t *testing.T) {
	cfg := settings.Defaults()
	cfg.Tokens = map[string]settings.Token{"t": {SHA256: strings.Repeat("0", 64), ApprovesFor: "always"}}
	if _, err := AccessOf(&settings.Layers{User: cfg}, cfg, "ann", nil); err == nil || !strings.Contains(err.Error(), "approves: true") {
		t.Error(err)
	}
}
