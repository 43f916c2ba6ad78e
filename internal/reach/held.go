package reach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// treeTime is the longest that a tree is looked through before a person is asked.
const treeTime = 500 * time.Millisecond

// Watch has a shell guard look at what commands would read by themselves where no
// sandbox bounds that: by the handle that a search gets, without what rules keep from the
// call.
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
	var name string
	err := r.without(r.Dirs, kept, func(f *files.Handle) (err error) {
		name, err = find(f)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("nobody can say what it would read in %s: %w", shellguard.Quote(dir), err)
	case name != "":
		return fmt.Errorf("it would read %s in %s, which is out of reach", shellguard.Quote(name), shellguard.Quote(dir))
	}
	return nil
}

// Search has a look with the files of a call, without those that rules keep from its
// commands: a search of a client reads as they do.
func (r Reach) Search(p *policy.Policy, call toolcrib.Call, granted *files.Handle, look func(*files.Handle) error) error {
	if p == nil {
		return look(granted)
	}
	dirs, denied := granted.Granted()
	return r.without(dirs, slices.Concat(denied, p.Kept(call)), look)
}

// without has a look at directories that leaves out some places. The settings of a project may
// be found there, as any other file: who names them is judged by another handle.
func (r Reach) without(dirs []files.Dir, kept []string, look func(*files.Handle) error) error {
	opt := r.Files
	if r.searched != nil {
		protection, err := r.searched()
		if err != nil {
			return err
		}
		opt.Protected = protection
	}
	opt.Denied = slices.Concat(opt.Denied, kept)
	handle, err := files.New(dirs, opt)
	if err != nil {
		return err
	}
	return errors.Join(look(handle), handle.Close())
}
