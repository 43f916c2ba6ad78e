package skill

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/config"
)

// TestManySkills finds a thousand skills, and finds them again by what it knows. The
// times are told; they are held to ten times what they should be, because the machine
// may be busy.
func TestManySkills(t *testing.T) {
	tree := map[string]string{}
	for i := range 1_000 {
		name := fmt.Sprintf("skill-%d", i)
		tree[fmt.Sprintf("g%d/%s/SKILL.md", i/200, name)] = "---\nname: " + name + "\ndescription: Does the thing number " + fmt.Sprint(i) +
			". Use it when that is wanted: always.\nmetadata:\n  version: \"1\"\n---\nDo it.\n"
	}
	b := open(t, Config{Places: []Place{at("user", plant(t, tree))}}, Needs{YAML: config.Decode})
	for _, most := range []time.Duration{4 * time.Second, 2 * time.Second} {
		start := time.Now()
		seen, err := b.Look(t.Context())
		if err != nil || len(seen.Skills) != 1_000 || seen.Skipped != nil {
			t.Fatalf("%d skills, %v, %v", len(seen.Skills), seen.Skipped, err)
		}
		took := time.Since(start)
		t.Logf("%d skills in %v", len(seen.Skills), took)
		if took > most {
			t.Errorf("it took %v", took)
		}
	}
}
