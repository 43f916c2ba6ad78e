package gitchange

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// maxWork bounds the bytes that are unpacked and hashed for one change set.
const maxWork = 1 << 30

// Read finds out what the changes of one repository mean. Its result has to be closed.
func Read(repo Repo, changes []Change) *Result {
	store, files := gitobject.New(repo.After, &gitobject.Budget{Bytes: maxWork}), gitobject.New(repo.After, &gitobject.Budget{Bytes: maxWork})
	j := &judge{
		repo: repo, changes: changes, store: store, files: map[fileKey]bool{},
		result:  &Result{Findings: make([]Finding, len(changes)), store: store, files: files},
		history: &history{store: store, seen: map[gitobject.ID]gitobject.CommitInfo{}},
	}
	for i := range changes {
		j.result.Findings[i] = judgePath(&changes[i])
	}
	if err := j.open(); err != nil {
		for i := range changes {
			j.find(i, Ask, Unread, "what the changes of the repository mean is not understood: "+err.Error())
		}
		return j.result
	}
	objects := j.objects()
	j.refs()
	j.index()
	j.result.Shown = append(j.result.Shown, objects...)
	slices.SortStableFunc(j.result.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return j.result
}

// judge is one look at the changes of a repository.
type judge struct {
	repo          Repo
	changes       []Change
	result        *Result
	store         *gitobject.Store
	history       *history
	before, after *refs
	files         map[fileKey]bool
}

// find notes what is known of a change; the stricter answer counts, and of two that are
// strict alike the first.
func (j *judge) find(i int, answer Answer, rule, text string) {
	f := &j.result.Findings[i]
	switch {
	case answer < f.Answer || answer == f.Answer && text == "":
	case answer > f.Answer || f.Text == "":
		*f = Finding{answer, rule, text}
	case answer == Ordinary: // all of it is told
		f.Text += "; " + text
	}
}

// fault notes what is wrong with a change: what is too much or not there is asked
// about, and what git would not have written is denied.
func (j *judge) fault(i int, err error) {
	if errors.Is(err, gitobject.ErrForged) {
		j.find(i, Deny, Forged, err.Error())
		return
	}
	j.find(i, Ask, Unread, err.Error())
}

// judgePath judges a change by its name and by what kind of file it is.
func judgePath(c *Change) Finding {
	const odd = fs.ModeSymlink | fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket | fs.ModeIrregular
	p := placeOf(c.Name)
	wasFile, isFile := c.Existed && !c.Before.IsDir(), c.Exists && !c.After.IsDir()
	switch {
	case p == others:
		return Finding{Ask, Obeyed, "git obeys it later, outside of the sandbox, so a person has to look at it"}
	case c.Exists && c.After&odd != 0:
		return Finding{Deny, Forged, "git makes no link there, and would write through it"}
	case c.ModeOnly:
		return Finding{Ask, Obeyed, "its permissions would change"}
	case c.Existed && c.Before&odd != 0:
		return Finding{Ask, Unread, "it was a link, which git does not make there"}
	case p == folder && (isFile || wasFile), p != folder && p != ref && p != log && c.Exists && c.After.IsDir():
		return Finding{Deny, Forged, "git makes no such thing there"}
	case p == folder && !c.Exists && !looseFolder.MatchString(c.Name), (p == head || p == index) && !c.Exists:
		return Finding{Ask, Obeyed, "without it there is no repository any more"}
	case (p == object || p == pack) && wasFile:
		return Finding{Deny, Forged, "an object of Git that was there before would change or be removed; gc and prune are for you to run"}
	}
	return Finding{Answer: Ordinary}
}

// open reads what has to be known before anything else is understood.
func (j *judge) open() error {
	if err := understood(j.repo.Before); err != nil {
		return err
	}
	var err error
	if j.before, err = openRefs(j.repo.Before); err != nil {
		return fmt.Errorf("packed-refs: %w", err)
	}
	if j.after, err = openRefs(j.repo.After); err != nil {
		return fmt.Errorf("packed-refs: %w", err)
	}
	j.history.shallow, err = shallow(j.repo.Before)
	return err
}

// maxConfig bounds the settings of a repository.
const maxConfig = 1 << 20

// understood tells whether a repository has the form that is known here: a work tree
// around it, hashes with SHA-1, refs in files, and all objects in itself.
func understood(dir gitobject.Dir) error {
	for _, name := range []string{"commondir", "objects/info/alternates", "config.worktree"} {
		f, err := dir.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = f.Close()
			}
			return errors.Join(fmt.Errorf("it has the file %s", name), err)
		}
	}
	if f, err := dir.Open("index.lock"); err == nil {
		return errors.Join(errors.New("another git process is at work in it now (index.lock)"), f.Close())
	}
	text, err := gitobject.ReadAll(dir, "config", maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its config cannot be read: %w", err)
	}
	for _, s := range gitconfig.Parse(string(text)) {
		switch value := strings.ToLower(s.Value); {
		case s.Section == "core" && s.Key == "worktree",
			s.Section == "core" && s.Key == "bare" && value != "false",
			s.Section == "core" && s.Key == "repositoryformatversion" && value != "0" && value != "1",
			s.Section == "extensions" && s.Key != "noop" && !(s.Key == "objectformat" && value == "sha1") && !(s.Key == "refstorage" && value == "files") && s.Key != "worktreeconfig":
			return fmt.Errorf("its config has %s.%s = %s", s.Section, s.Key, s.Value)
		}
	}
	return nil
}

// shallow reads which commits have no parents because these were never fetched.
func shallow(dir gitobject.Dir) (map[gitobject.ID]bool, error) {
	text, err := gitobject.ReadAll(dir, "shallow", maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("its list of shallow commits cannot be read: %w", err)
	}
	out := map[gitobject.ID]bool{}
	for line := range strings.Lines(string(text)) {
		id, ok := gitobject.ParseID(strings.TrimSuffix(line, "\n"))
		if !ok {
			return nil, fmt.Errorf("its list of shallow commits %w", gitobject.ErrOdd)
		}
		out[id] = true
	}
	return out, nil
}

// objects checks what was added to the objects: each must be what its name says, or
// git would find other content under a name that it knows. It gives what a person is
// shown of them.
func (j *judge) objects() (shown []string) {
	packs := map[string]error{}
	loose, packed := 0, 0
	for i := range j.changes {
		c := &j.changes[i]
		if j.result.Findings[i].Answer != Ordinary || !c.Exists || c.After.IsDir() {
			continue
		}
		if id, ok := gitobject.ParseLooseName(c.Name); ok {
			if _, err := j.store.VerifyLoose(id); err != nil {
				j.fault(i, forged(err))
			}
			loose++
		}
		if stem, ok := packStem(c.Name); ok {
			err, seen := packs[stem]
			if !seen {
				var n int
				n, err = j.store.VerifyPack(stem)
				packs[stem] = err
				packed += n
			}
			if err != nil {
				j.fault(i, forged(err))
			}
		}
	}
	if loose > 0 {
		shown = append(shown, counted(loose, "new Git object"))
	}
	if packed > 0 {
		shown = append(shown, counted(packed, "Git object")+" in "+counted(len(packs), "new pack"))
	}
	return shown
}

// forged: what was made by the command and is no object is as bad as a wrong one.
func forged(err error) error {
	if errors.Is(err, gitobject.ErrOdd) {
		return errors.Join(err, gitobject.ErrForged)
	}
	return err
}

func (j *judge) show(format string, args ...any) {
	j.result.Shown = append(j.result.Shown, fmt.Sprintf(format, args...))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
