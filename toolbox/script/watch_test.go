package script

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestWatched: who watches is told everything but the values of variables, and the program runs as it would otherwise.
func TestWatched(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", watchedMost+1)
	run := func(cmd toolcrib.Cmd) (toolcrib.Exit, error) {
		_, err := io.WriteString(cmd.Stdout, "out\xff")
		if err == nil && cmd.Stderr != nil {
			_, err = io.WriteString(cmd.Stderr, long)
		}
		return toolcrib.Exit{Code: 3}, err
	}
	for _, watched := range []bool{false, true} {
		var got []Ran
		ctx := context.Background()
		if watched {
			ctx = Watch(ctx, func(r Ran) { got = append(got, r) })
		}
		var out bytes.Buffer
		exit, err := Watched(ctx, toolcrib.Cmd{Path: "/bin/x", Args: []string{"a b"}, Dir: "/d", Env: []string{"TOKEN=secret"}, Stdout: &out}, toolcrib.Grant{Hosts: []string{"h"}}, run)
		if exit.Code != 3 || err != nil || out.String() != "out\xff" {
			t.Errorf("%v: %+v, %v, %q", watched, exit, err, out.String())
		}
		if len(got) != map[bool]int{true: 1}[watched] {
			t.Fatalf("%v: told %d times", watched, len(got))
		}
		if !watched {
			continue
		}
		r := got[0]
		if fmt.Sprintf("%q", r.Words) != `["/bin/x" "a b"]` || r.Dir != "/d" || r.Stdout != "out\uFFFD" || r.Exit.Code != 3 || r.Grant.Hosts[0] != "h" {
			t.Errorf("%+v", r)
		}
		if len(r.Stderr) > watchedMost+100 || !strings.HasSuffix(r.Stderr, "[there was more]") {
			t.Errorf("%d bytes of standard error", len(r.Stderr))
		}
		if strings.Contains(fmt.Sprintf("%+v", r), "secret") || r.Variables[0] != "TOKEN" {
			t.Error("the value of a variable is told")
		}
	}
}
