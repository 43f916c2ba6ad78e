package sensitive_test

import (
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// TestObeyedAtHome: what a shell, git, an editor or a login runs by itself is on the
// list, each once.
func TestObeyedAtHome(t *testing.T) {
	list := sensitive.ObeyedAtHome()
	for _, name := range []string{".bash_completion", ".config/husky", ".hgrc", ".config/jj", ".nvm/nvm.sh", ".pyenv/shims", ".emacs.el", ".xonshrc"} {
		if !slices.Contains(list, name) {
			t.Errorf("%s is missing", name)
		}
	}
	slices.Sort(list)
	if n := len(slices.Compact(slices.Clone(list))); n != len(list) {
		t.Error("a name stands there twice")
	}
}
