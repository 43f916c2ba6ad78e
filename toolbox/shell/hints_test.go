package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

func TestHints(t *testing.T) {
	b := &Box{cfg: Config{MaxTimeout: 2 * time.Minute}}
	for _, c := range []struct {
		exit    toolcrib.Exit
		asked   int
		printed string
		want    string
	}{
		{toolcrib.Exit{TimedOut: true}, 30, "", "the argument timeout of run_command gives it up to 120 s"},
		{toolcrib.Exit{TimedOut: true}, 500, "", "toolboxes.shell.max_timeout"},
		{toolcrib.Exit{Sandbox: "linux"}, 30, "ptrace: Operation not permitted", ""},
		{toolcrib.Exit{Code: 1, Sandbox: "container"}, 30, "ptrace: Operation not permitted", ""},
		{toolcrib.Exit{Code: 1, Sandbox: "linux"}, 30, "no such file", ""},
	} {
		got := strings.Join(b.hints(c.exit, c.asked, "", c.printed), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
