package cli

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func TestTryHint(t *testing.T) {
	failed := func(text, log string) tried {
		return tried{Tool: "x", Result: toolcrib.Failed(text), Process: &triedProcess{Log: log}}
	}
	for name, c := range map[string]struct {
		t    tried
		want string
	}{
		"a host in Python": {failed("URLError: <urlopen error [Errno -2] Name or service not known>", ""), "under hosts"},
		"a host in Node":   {failed("fetch failed", "cause: Error: getaddrinfo EAI_AGAIN a.example"), "under hosts"},
		"a secret":         {tried{Tool: "x", Error: "unavailable: a secret that this tool needs is not there for this caller"}, "tools check x"},
		"another failure":  {failed("ValueError: no", ""), ""},
		"a program":        {tried{Tool: "x", Result: toolcrib.Failed("Name or service not known")}, ""},
		"no failure":       {tried{Tool: "x", Result: toolcrib.Text("getaddrinfo"), Process: &triedProcess{}}, ""},
	} {
		if got := tryHint(c.t); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
