package layer

import (
	"strings"
	"testing"
)

// longPath makes a path that is longer than the kernel takes, step by step.
const longPath = `n=$(printf '%0200d' 0); i=0; while [ $i -lt 25 ]; do mkdir $n; cd -P $n; i=$((i+1)); done; echo 1 > file`

// TestPathsThatAreTooLong: what no program could open by its path is not applied, and the
// error says so.
func TestPathsThatAreTooLong(t *testing.T) {
	g := newGround(t, project)
	before := listing(t, g.tree.Root)
	since := g.now()
	g.on(longPath)
	s, err := Read(t.Context(), []Tree{g.tree}, since)
	if err == nil {
		err = s.Apply(t.Context(), Options{Record: g.record()})
	}
	if err == nil || !strings.Contains(err.Error(), "4,096 bytes") || len(err.Error()) > 1000 {
		t.Errorf("%v", err)
	}
	if now := listing(t, g.tree.Root); now != before {
		t.Errorf("now:\n%s", now)
	}
}
