package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib/files"
)

// TestFilesMakeNoRepositoryTogether: calls at the same moment, each of which
// makes a part of a Git directory, leave none behind that is whole.
func TestFilesMakeNoRepositoryTogether(t *testing.T) {
	g := newGrounds(t)
	f := g.open(t, files.Options{}, "w in")
	for i := range 150 {
		dir := fmt.Sprintf("l%d", i)
		if err := f.WriteFile(dir+"/objects/k", []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		start := make(chan struct{})
		for _, name := range []string{"/HEAD", "/refs/k", "/refs/heads/k"} {
			group.Go(func() {
				<-start
				//nolint:errcheck // one of them is refused, or all are
				f.WriteFile(dir+name, []byte("ref: refs/heads/main\n"), nil)
			})
		}
		close(start)
		group.Wait()
		_, head := os.Stat(filepath.Join(g.in, dir, "HEAD"))
		_, refs := os.Stat(filepath.Join(g.in, dir, "refs"))
		if head == nil && refs == nil {
			t.Fatalf("round %d: a whole Git directory was made", i)
		}
	}
}
