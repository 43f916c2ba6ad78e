package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestLogInChatIsPlain: a conversation has sentences in it, and no lines of a log.
func TestLogInChatIsPlain(t *testing.T) {
	var out bytes.Buffer
	c := &command{err: &out, chatting: true}
	for _, format := range []string{"text", "json"} {
		out.Reset()
		log := c.logger(settings.Log{Level: "warn", Format: format})
		log.Info("nobody reads this")
		log.With("server", "x\ny").WithGroup("g").Warn("an MCP server is stuck", "times", 2, "err", errors.New("it hangs"))
		if want := "toolcrib: warning: an MCP server is stuck (server x\\ny, times 2): it hangs\n"; out.String() != want {
			t.Errorf("%s: %q, want %q", format, out.String(), want)
		}
	}
	out.Reset()
	c.chatting = false
	c.logger(settings.Log{Level: "warn"}).Log(t.Context(), slog.LevelError, "x")
	if !bytes.Contains(out.Bytes(), []byte("level=ERROR")) {
		t.Errorf("elsewhere: %s", out.String())
	}
}
