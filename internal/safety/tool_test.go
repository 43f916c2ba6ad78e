package safety

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
)

const (
	reads, writes, runs, network = toolcrib.Reads, toolcrib.Writes, toolcrib.Runs, toolcrib.Network
	command                      = reads | writes | toolcrib.Destroys | runs | network
	isAllow, isAsk, isDeny       = toolcrib.Allow, toolcrib.Ask, toolcrib.Deny
)

func tool(box, name, group string, e toolcrib.Effects) toolcrib.Entry {
	return toolcrib.Entry{Spec: toolcrib.Spec{Name: name, Group: group, Effects: e}, Native: name, Box: box}
}

func labelTable(t testing.TB, opt policy.LabelOptions) *policy.LabelTable {
	t.Helper()
	opt.Own = []string{"clock", "files", "math", "shell", "web", "interact", "artifact"}
	table, err := policy.NewLabelTable(opt)
	if err != nil {
		t.Fatal(err)
	}
	return table
}
