//go:build amd64 || arm64

package linux

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// A layer whose changes wait for an answer has a record beside its trees. While it is
// applied, another file has what is needed to put it back.
const (
	keptName  = "kept.json"
	marksName = "marks.json"
)

const (
	keptVersion = 1
	keptPrefix  = "l-" // begins the IDs
)

// The bounds on what waits.
const (
	maxKept   = 64
	maxRecord = 64 << 20
	// keepWaiting is how long a layer waits for an answer.
	keepWaiting = keepApplied
)

// session is whose commands see what earlier ones left.
type session struct{ organisation, subject, agent, session, frontend string }

// sessionOf is empty for a caller without a session: none of its calls belongs to
// another.
func sessionOf(c toolcrib.Caller) session {
	if c.Session == "" {
		return session{}
	}
	return session{c.Organisation, c.Subject, c.Agent, c.Session, c.Frontend}
}

// command is the call whose changes wait.
type command struct {
	call toolcrib.Call
	tool string
}

func commandOf(cmd toolcrib.Cmd) command { return command{cmd.Call, cmd.Tool} }

// input is what can be written down of it.
func (c command) input() json.RawMessage {
	if text := json.RawMessage(redact.Text(string(redact.JSON(c.call.Input)))); json.Valid(text) {
		return text
	}
	return nil
}

func dirsOf(g toolcrib.Grant) []string {
	var out []string
	for _, d := range g.Dirs {
		path := d.Path
		if !utf8.ValidString(path) { // as a record can hold it
			path = strconv.Quote(path)
		}
		out = append(out, path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// digest is the same for the same command.
func (c command) digest() string {
	sum := sha256.Sum256([]byte(c.tool + " " + string(redact.JSON(c.call.Input))))
	return hex.EncodeToString(sum[:16])
}

// kept is a kept layer that is in use.
type kept struct {
	dir   string
	rec   keptRecord
	trees []layer.Tree
	lock  *os.File // shared among those who read it
}

func (k *kept) close() error {
	if k == nil {
		return nil
	}
	return k.lock.Close()
}

func (k *kept) id() string {
	if k == nil {
		return ""
	}
	return k.rec.ID
}

// tree finds what was done in a granted directory.
func (k *kept) tree(root string) (layer.Tree, bool) {
	if k != nil {
		for _, t := range k.trees {
			if t.Root == root {
				return t, true
			}
		}
	}
	return layer.Tree{}, false
}

// shows tells whether a path is still there.
func (k *kept) shows(path string) (bool, error) {
	var inner *layer.Tree
	for i := range k.trees {
		t := &k.trees[i]
		if (path == t.Root || strings.HasPrefix(path, strings.TrimSuffix(t.Root, "/")+"/")) && (inner == nil || len(t.Root) > len(inner.Root)) {
			inner = t
		}
	}
	if inner == nil {
		return true, nil
	}
	rel, err := filepath.Rel(inner.Root, path)
	if err != nil {
		return false, err
	}
	return inner.Shows(strings.TrimPrefix(rel, "."))
}

func isKept(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, keptName))
	return err == nil
}

// readKept reads the record of a kept layer.
func readKept(dir string) (*kept, error) {
	text, err := plainfile.Read(filepath.Join(dir, keptName), maxRecord)
	if err != nil {
		return nil, err
	}
	k := &kept{dir: dir}
	if err := json.Unmarshal(text, &k.rec); err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, keptName), err)
	}
	if k.rec.Version != keptVersion {
		return nil, fmt.Errorf("%s has version %d, which this Toolcrib does not know", filepath.Join(dir, keptName), k.rec.Version)
	}
	for _, t := range k.rec.Trees {
		if !filepath.IsLocal(t.Dir) || t.Dir == "." || strings.Contains(t.Dir, "/") {
			return nil, fmt.Errorf("%s names the directory %q", filepath.Join(dir, keptName), t.Dir)
		}
		tree := layer.Tree{Root: string(t.Root), Dir: filepath.Join(dir, t.Dir), Later: map[string]time.Time{}}
		for _, l := range t.Later {
			tree.Later[string(l.Path)] = l.At
		}
		k.trees = append(k.trees, tree)
	}
	return k, nil
}

// readAllKept reads all kept layers that nothing has taken the place of. What cannot
// be read is left out.
func readAllKept(layers string) []*kept {
	entries, err := os.ReadDir(layers)
	if err != nil {
		return nil // there are none yet
	}
	var out []*kept
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), appliedPrefix) {
			continue
		}
		if k, err := readKept(filepath.Join(layers, e.Name())); err == nil {
			out = append(out, k)
		}
	}
	replaced := map[string]bool{}
	for _, k := range out {
		replaced[k.rec.Replaces] = true
	}
	return slices.DeleteFunc(out, func(k *kept) bool { return replaced[filepath.Base(k.dir)] })
}

// keptWait is how long a command waits for somebody who settles what its session left.
const keptWait = 10 * time.Second

// errSettling: the kept layer of a session is being applied or dropped.
var errSettling = errors.New("what an earlier command of this session left waiting is being applied or dropped now: try again")

// earlier finds what the session of a command left waiting in the same directories,
// and holds it. Nil: nothing.
func (s *Sandbox) earlier(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (*kept, error) {
	mine, dirs := sessionOf(cmd.Call.Caller), dirsOf(grant)
	if s.cfg.Layers == "" || mine == (session{}) {
		return nil, nil
	}
	for end := time.Now().Add(keptWait); ; {
		k := findKept(s.cfg.Layers, mine, dirs)
		if k == nil {
			return nil, nil
		}
		lock, err := lockShared(filepath.Join(k.dir, lockName))
		if err != nil {
			return nil, fmt.Errorf("reading what earlier commands of this session changed: %w", err)
		}
		if lock != nil {
			// Only now nobody can take it away, or be applying it.
			if isKept(k.dir) && !cutOff(k.dir) {
				k.lock = lock
				return k, nil
			}
			if err := lock.Close(); err != nil {
				return nil, err
			}
			if err := recoverOne(ctx, s.cfg.Layers, k.dir); err != nil {
				return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error(), Err: err}
			}
		}
		if time.Now().After(end) {
			return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: errSettling.Error(), Err: errSettling}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func findKept(layers string, mine session, dirs []string) *kept {
	for _, k := range readAllKept(layers) {
		if sessionOf(k.rec.Caller) == mine && slices.Equal(k.rec.Dirs, dirs) {
			return k
		}
	}
	return nil
}

// lockShared takes a lock together with others who read. Nil: somebody has it alone.
func lockShared(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it is gone by now
	}
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return nil, f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	mine, err := f.Stat()
	named, nameErr := os.Lstat(path)
	if err != nil || nameErr != nil || !os.SameFile(mine, named) {
		return nil, f.Close()
	}
	return f, nil
}

// longestKept bounds the path of a change in a layer that is kept, with what its
// directory is called.
const longestKept = unix.PathMax - 128

// keepAs makes a layer one that waits for an answer: what it was based on is part of
// it, and goes. The layer is the session's only one, or none is kept.
func (l *layered) keepAs(ctx context.Context, set *layer.Set) (k *kept, err error) {
	layers := filepath.Dir(l.dir)
	lock, err := lockLayers(ctx, layers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	others := readAllKept(layers)
	for _, other := range others {
		mine := l.session != session{} && sessionOf(other.rec.Caller) == l.session && slices.Equal(other.rec.Dirs, l.grants)
		if mine && (l.base == nil || l.base.dir != other.dir) {
			return nil, fmt.Errorf("another command of this session left changes meanwhile that wait as layer %s, which this one did not see: run it again", other.rec.ID)
		}
	}
	if l.base != nil && !isKept(l.base.dir) {
		return nil, fmt.Errorf("what it was based on, the layer %s, was applied or dropped meanwhile: run it again", l.base.rec.ID)
	}
	if l.base == nil && len(others) >= maxKept {
		return nil, fmt.Errorf("%d layers wait for an answer already: a person has to settle some ('toolcrib layers' lists them)", len(others))
	}
	rec := keptRecord{
		Kept: Kept{
			ID: keptPrefix + strings.ToLower(rand.Text()[:10]), Caller: l.command.call.Caller, Tool: l.command.tool, Input: l.command.input(),
			Call: l.command.call.ID, Dirs: l.grants, Began: l.began, At: time.Now(),
		},
		Version: keptVersion, Line: l.command.digest(), Digest: digestOf(set),
	}
	if l.base != nil {
		rec.ID, rec.Began, rec.Replaces = l.base.rec.ID, l.base.rec.Began, filepath.Base(l.base.dir)
		rec.Mixed = l.others()
	}
	for _, c := range set.Changes {
		if len(l.dir)+len(c.Path) > longestKept { // the next command of the session could not be put on top of it
			return nil, errors.New("the path of a change is too long: make fewer directories in one another")
		}
		switch c.Kind {
		case layer.Created:
			rec.Created++
		case layer.Changed:
			rec.Changed++
		case layer.Deleted:
			rec.Deleted++
		}
	}
	for i := range l.trees { // what is taken back while they are applied stands there
		if l.trees[i].Later == nil {
			l.trees[i].Later = map[string]time.Time{}
		}
		if err := layer.Remove(l.trees[i].Work()); err != nil { // nothing is written to it any more
			return nil, err
		}
	}
	if err := syncBelow(l.dir); err != nil {
		return nil, err
	}
	rec.ledRecord = l.keepLed()
	waiting := slices.DeleteFunc(slices.Clone(l.trees), func(t layer.Tree) bool { return t.Cache })
	k = &kept{dir: l.dir, rec: rec, trees: waiting, lock: l.lock}
	if err := k.write(); err != nil {
		return nil, err
	}
	if l.base != nil {
		err = l.base.retire()
		l.base = nil
	}
	return k, err
}

// write writes down what waits.
func (k *kept) write() error {
	k.rec.Trees = nil
	for _, t := range k.trees {
		tree := keptTree{Root: []byte(t.Root), Dir: filepath.Base(t.Dir)}
		for path, at := range t.Later {
			tree.Later = append(tree.Later, laterPath{[]byte(path), at})
		}
		k.rec.Trees = append(k.rec.Trees, tree)
	}
	text, err := json.Marshal(k.rec)
	if err != nil {
		return err
	}
	if err := durable.Replace(filepath.Join(k.dir, keptName), text, 0o600); err != nil {
		return fmt.Errorf("keeping what commands changed: %w", err)
	}
	return nil
}

// retire takes a kept layer out of use, and removes it unless other commands still
// run on it: then the next sweep does.
func (k *kept) retire() error {
	err := errors.Join(os.Remove(filepath.Join(k.dir, keptName)), k.lock.Close())
	lock, lockErr := durable.TryLock(filepath.Join(k.dir, lockName), false)
	if lock == nil || lockErr != nil {
		return err
	}
	return errors.Join(err, layer.Remove(k.dir), lock.Close())
}

func syncBelow(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(fd), unix.Close(fd))
}

func digestOf(set *layer.Set) string { return set.Digest(func(layer.Change) bool { return true }) }
