package math

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		box, err := Open(t.Context(), Config{})
		if err != nil {
			t.Fatal(err)
		}
		return box
	})
}

func TestToolsSayThatTheyDoNothing(t *testing.T) {
	box, err := Open(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := box.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(tools) == 0 || box.Name() != "math" {
		t.Errorf("box %s has %d tools", box.Name(), len(tools))
	}
	for _, tool := range tools {
		if tool.Effects != toolcrib.Pure || tool.Group != "math" {
			t.Errorf("%s: effects %v, group %s", tool.Name, tool.Effects, tool.Group)
		}
	}
}

// TestExamplesInTheText: what the description says to a model is true.
func TestExamplesInTheText(t *testing.T) {
	examples := regexp.MustCompile("`([^`]+)` is (-?[0-9.]*[0-9])").FindAllStringSubmatch(evaluateExpressionText, -1)
	if len(examples) < 5 {
		t.Errorf("only %d examples", len(examples))
	}
	for _, e := range examples {
		want, err := strconv.ParseFloat(e[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := evaluateText(e[1]); err != nil || got != want {
			t.Errorf("%s is %v, %v", e[0], got, err)
		}
	}
}
