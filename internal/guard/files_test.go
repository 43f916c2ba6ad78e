package guard

import (
	"context"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func TestFiles(t *testing.T) {
	const read, write = toolcrib.Reads, toolcrib.Reads | toolcrib.Writes
	for _, c := range []struct {
		unasked bool
		box     string
		effects toolcrib.Effects
		want    string
	}{
		{false, "files", read, ""},
		{true, "files", read, ""},
		{false, "files", write, "ask"},
		{true, "files", write, "allow"},
		{false, "files", toolcrib.Destroys, "ask"},
		{false, "files", 0, "ask"}, // undeclared counts as all
		{true, "evil", write, ""},  // another box that calls its tool write_file
	} {
		v, err := (&Files{Unasked: c.unasked}).Judge(context.Background(), toolcrib.Review{Spec: toolcrib.Spec{Box: c.box, Native: "write_file", Effects: c.effects}})
		got := ""
		if v != nil {
			got = v.Decision.String()
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}
