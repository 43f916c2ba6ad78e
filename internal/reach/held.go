package reach

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// treeTime is the longest that a tree is looked through before a person is asked.
const treeTime = 500 * time.Millisecond

// Watch has a shell guard look at what commands would read by themselves where no
// sandbox bounds that: by the handle that the file tools get, without what rules keep
// from the call.
func (r Reach) Watch(g *shellguard.Guard, p *policy.Policy) {
	g.Holds = func(call toolcrib.Call, t shellguard.Tree) error {
		return r.look(p.Kept(call), t.Dir, func(f *files.Handle) (string, error) {
			ctx, cancel := context.WithTimeout(context.Background(), treeTime)
			defer cancel()
			return f.FirstGuarded(ctx, t.Dir, files.Search{Names: t.Names})
		})
	}
	g.Named = func(call toolcrib.Call, root string, names []string) error {
		return r.look(p.Kept(call), root, func(f *files.Handle) (string, error) { return f.FirstNamed(root, names) })
	}
}

func (r Reach) look(kept []string, dir string, find func(*files.Handle) (string, error)) error {
	if len(r.Dirs) == 0 {
		return errors.New("no directory was granted")
	}
	opt := r.Files
	opt.Denied = append(append([]string{}, opt.Denied...), kept...)
	handle, err := files.New(r.Dirs, opt)
	if err != nil {
		return err
	}
	name, err := find(handle)
	switch err = errors.Join(err, handle.Close()); {
	case err != nil:
		return fmt.Errorf("nobody can say what it would read in %s: %w", shellguard.Quote(dir), err)
	case name != "":
		return fmt.Errorf("it would read %s in %s, which is out of reach", shellguard.Quote(name), shellguard.Quote(dir))
	}
	return nil
}
