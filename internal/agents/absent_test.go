package agents

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// TestAbsent: what is not there says how one gets it, for every tool of the box.
func TestAbsent(t *testing.T) {
	none, some := map[string]string{}, map[string]string{}
	Absent(settings.Config{}, none)
	Absent(settings.Config{Models: map[string]settings.Model{"m": {}}, Agents: map[string]settings.Agent{"lead": {Delegates: []string{"w"}}}}, some)
	if len(some) != 0 || none["run_skill"] == "" {
		t.Errorf("%v\n%v", none, some)
	}
	box, err := delegate.Open(t.Context(), delegate.Config{}, delegate.Needs{Team: New(Needs{}).Team()})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := box.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if none[tool.Name] == "" {
			t.Errorf("%s is not there, and nothing says why", tool.Name)
		}
	}
	if len(none) != len(tools)+1 {
		t.Errorf("%d tools, and %v", len(tools), none)
	}
}
