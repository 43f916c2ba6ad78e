package trace

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, c := range []struct {
		name, parent, state string
		ok, sampled         bool
		kept                string
	}{
		{"the example of the standard", good, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", true, true, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"},
		{"not sampled", good[:53] + "00", "", true, false, ""},
		{"unknown flags", good[:53] + "fe", "", true, false, ""},
		{"a later version", "cc" + good[2:] + "-what-else", "", true, true, ""},
		{"a later version without a dash", "cc" + good[2:] + "x", "", false, false, ""},
		{"ours with more behind it", good + "-more", "", false, false, ""},
		{"the version that is forbidden", "ff" + good[2:], "", false, false, ""},
		{"capitals", strings.ToUpper(good), "", false, false, ""},
		{"no trace", "00-" + strings.Repeat("0", 32) + good[35:], "", false, false, ""},
		{"no span", good[:36] + strings.Repeat("0", 16) + good[52:], "", false, false, ""},
		{"empty", "", "", false, false, ""},
		{"no hexadecimal", good[:53] + "zz", "", false, false, ""},
		{"a state with a new line", good, "a=b\r\nX: y", true, true, ""},
		{"a state that is too long", good, "a=" + strings.Repeat("b", 600), true, true, ""},
		{"a state of too many members", good, strings.TrimSuffix(strings.Repeat("a=b,", 33), ","), true, true, ""},
		{"a state that is no list", good, "hello", true, true, ""},
	} {
		got, ok := Parse(c.parent, c.state)
		if ok != c.ok || got.Sampled != c.sampled || got.State != c.kept {
			t.Errorf("%s: got %+v, %v", c.name, got, ok)
		}
		if c.parent == good && got.Parent() != good {
			t.Errorf("%s: sent on as %s", c.name, got.Parent())
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "rojo=00f067aa0ba902b7")
	f.Add("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x", "a@b=c, d=e")
	f.Fuzz(func(t *testing.T, parent, state string) {
		c, ok := Parse(parent, state)
		if !ok {
			if c != (Context{}) {
				t.Fatalf("%q is none, and gave %+v", parent, c)
			}
			return
		}
		again, ok := Parse(c.Parent(), c.State)
		if !ok || again != c {
			t.Fatalf("%+v is sent on as %q and read as %+v", c, c.Parent(), again)
		}
		if strings.ContainsAny(c.State, "\r\n\x00") || len(c.State) > maxState {
			t.Fatalf("the state %q is passed on", c.State)
		}
	})
}
