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

func tool(box, name, group string, e toolcrib.Effects) toolcrib.Spec {
	return toolcrib.Spec{Name: name, Native: name, Box: box, Group: group, Effects: e}
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
