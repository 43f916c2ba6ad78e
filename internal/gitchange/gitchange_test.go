package gitchange

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// memory is a Git directory that lies nowhere.
type memory map[string]string

type memoryFile struct{ *strings.Reader }

func (memoryFile) Close() error { return nil }

func (m memory) Open(name string) (gitobject.File, error) {
	text, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{strings.NewReader(text)}, nil
}

func (m memory) List(dir string) ([]string, error) {
	seen := map[string]bool{}
	var out []string
	for name := range m {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			if first, _, _ := strings.Cut(rest, "/"); !seen[first] {
				seen[first] = true
				out = append(out, first)
			}
		}
	}
	if out == nil {
		return nil, fs.ErrNotExist
	}
	return out, nil
}

// put adds an object.
func (m memory) put(kind gitobject.Kind, data string) gitobject.ID {
	id := gitobject.Hash(gitobject.Object{Kind: kind, Data: []byte(data)})
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = fmt.Fprintf(z, "%s %d\x00%s", kind, len(data), data)
	_ = z.Close()
	m[gitobject.LooseName(id)] = out.String()
	return id
}

// commit adds a commit of files, made so many seconds after the beginning.
func (m memory) commit(seconds int, files map[string]string, parents ...gitobject.ID) gitobject.ID {
	var entries []gitobject.Entry
	for name, text := range files {
		entries = append(entries, gitobject.Entry{Mode: gitobject.ModeFile, Name: name, ID: m.put(gitobject.Blob, text)})
	}
	slices.SortFunc(entries, func(a, b gitobject.Entry) int { return strings.Compare(a.Name, b.Name) })
	text := "tree " + m.put(gitobject.Tree, string(gitobject.FormatTree(entries))).String() + "\n"
	for _, p := range parents {
		text += "parent " + p.String() + "\n"
	}
	text += fmt.Sprintf("author Ada <a@b> %d +0000\ncommitter Ada <a@b> %d +0000\n\nnumber %d\n", 1700000000+seconds, 1700000000+seconds, seconds)
	return m.put(gitobject.Commit, text)
}

// changed is Read of what is different between two Git directories.
func changed(t *testing.T, before, after memory) map[string]Finding {
	t.Helper()
	r := resultOf(before, after)
	out := map[string]Finding{}
	for i, c := range changesOf(before, after) {
		out[c.Name] = r.Findings[i]
	}
	return out
}

func resultOf(before, after memory) *Result {
	return Read(Repo{Before: before, After: after}, changesOf(before, after))
}

func changesOf(before, after memory) (out []Change) {
	for name, text := range after {
		if was, ok := before[name]; !ok || was != text {
			out = append(out, Change{Name: name, Before: 0o644, After: 0o644, Existed: ok, Exists: true})
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out = append(out, Change{Name: name, Before: 0o644, Existed: true})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func paths(r *Result) (out []string) {
	for _, f := range r.Files {
		out = append(out, f.Path)
	}
	return out
}

// TestOnlyListedPlacesAreOrdinary: what is not on the list is what others obey,
// whatever it is called.
func TestOnlyListedPlacesAreOrdinary(t *testing.T) {
	hex := strings.Repeat("a", 40)
	for name, want := range map[string]place{
		"HEAD": head, "index": index, "packed-refs": packedRefs, "ORIG_HEAD": pseudo, "FETCH_HEAD": message, "COMMIT_EDITMSG": message, "objects": folder, "objects/aa": folder,
		"objects/aa/" + hex[2:]: object, "objects/pack/pack-" + hex + ".pack": pack, "objects/pack/pack-" + hex + ".idx": pack, "refs/heads/main": ref, "refs/heads/a/b": ref, "refs/stash": ref,
		"refs/tags/v1": ref, "refs/remotes/origin/HEAD": ref, "logs/HEAD": log, "logs/refs/heads/main": log, "logs/refs/stash": log,
	} {
		if got := placeOf(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	for _, name := range []string{
		"config", "config.worktree", "config.lock", "hooks", "hooks/pre-commit", "info", "info/attributes", "info/exclude", "info/grafts", "info/sparse-checkout", "description", "modules/x/config", "worktrees/x/HEAD", "commondir", "gitdir",
		"shallow", "rebase-merge/git-rebase-todo", "rebase-apply/patch", "sequencer/todo", "rr-cache/x/preimage", "MERGE_RR", "objects/info", "objects/info/alternates", "objects/info/http-alternates", "objects/info/commit-graph", "objects/info/packs",
		"objects/pack/multi-pack-index", "objects/pack/pack-" + hex + ".rev", "objects/pack/pack-" + hex + ".bitmap", "objects/pack/pack-" + hex + ".keep", "objects/pack/evil.pack", "objects/AA", "objects/aa/" + hex, "objects/aa/x", "objects/aa/tmp_obj_1",
		"refs/replace/" + hex, "refs/x", "refs/bisect/bad", "refs/worktree/x", "refs/heads/.x", "refs/heads/a..b", "refs/heads/a.lock", "refs/heads/a//b", "refs/heads/a\nb", "refs/heads/a b", "refs/heads/@{1}", "refs/heads/x.",
		"logs/x", "logs/refs/replace/x", "head", "Head", "INDEX", "Objects/aa", "index.lock", "HEAD.lock", "packed-refs.lock", "gc.pid", "git-crypt/keys/default", "lfs/objects/x", "reftable/x", "../config", "", "remotes/x", "branches/x", "fsmonitor--daemon.ipc", "sharedindex." + hex,
	} {
		if got := placeOf(name); got != others {
			t.Errorf("%s: %d, want none", name, got)
		}
	}
}

// TestEachNewCommitIsJudged: also one whose files the next removes again; not those
// that a branch had before.
func TestEachNewCommitIsJudged(t *testing.T) {
	m := memory{"HEAD": "ref: refs/heads/main\n", "refs/heads/.keep": ""}
	delete(m, "refs/heads/.keep")
	first := m.commit(1, map[string]string{"a": "1"})
	second := m.commit(2, map[string]string{"a": "1", "b": "2"}, first)
	m["refs/heads/main"] = second.String() + "\n"
	m["refs/heads/old"] = first.String() + "\n"
	for name, tt := range map[string]struct {
		change func(memory)
		want   string
		rule   string // of the finding
		at     string
	}{
		"one commit": {func(m memory) {
			m["refs/heads/main"] = m.commit(3, map[string]string{"a": "1", "b": "2", "c": "3"}, second).String() + "\n"
		}, "c", "", "refs/heads/main"},
		"hidden in the middle": {func(m memory) {
			evil := m.commit(3, map[string]string{"evil": "x"}, second)
			m["refs/heads/main"] = m.commit(4, map[string]string{"a": "1", "b": "2"}, evil).String() + "\n"
		}, "a a b b evil evil", "", "refs/heads/main"},
		"a known commit": {func(m memory) { m["refs/heads/new"] = first.String() + "\n" }, "", "", "refs/heads/new"},
		"forward":        {func(m memory) { m["refs/heads/old"] = second.String() + "\n" }, "b", "", "refs/heads/old"},
		"back":           {func(m memory) { m["refs/heads/main"] = first.String() + "\n" }, "b", History, "refs/heads/main"},
		"amended": {func(m memory) {
			m["refs/heads/main"] = m.commit(3, map[string]string{"a": "1", "b": "3"}, first).String() + "\n"
		}, "b", History, "refs/heads/main"},
		"an unrelated root": {func(m memory) { m["refs/heads/main"] = m.commit(3, map[string]string{"z": "1"}).String() + "\n" }, "a b z", History, "refs/heads/main"},
		"much later":        {func(m memory) { m["refs/heads/main"] = m.commit(90_000_000, nil, second).String() + "\n" }, "a b", "", "refs/heads/main"},
		"with a time long ago": {func(m memory) {
			m["refs/heads/main"] = m.commit(-90_000_000, map[string]string{"c": "1"}, second).String() + "\n"
		}, "a b c", "", "refs/heads/main"},
		"a branch that is gone": {func(m memory) { delete(m, "refs/heads/old") }, "", "", "refs/heads/old"},
		"the only branch":       {func(m memory) { delete(m, "refs/heads/main"); m["HEAD"] = "ref: refs/heads/old\n" }, "", History, "refs/heads/main"},
		"moved into a file":     {func(m memory) { delete(m, "refs/heads/old"); m["packed-refs"] = first.String() + " refs/heads/old\n" }, "", "", "packed-refs"},
		"evil in a file": {func(m memory) {
			m["packed-refs"] = m.commit(3, map[string]string{"evil": "x"}).String() + " refs/heads/evil\n"
		}, "evil", "", "packed-refs"},
		"replaced in a file": {func(m memory) { m["packed-refs"] = second.String() + " refs/replace/" + first.String() + "\n" }, "", Obeyed, "packed-refs"},
	} {
		after := maps.Clone(m)
		tt.change(after)
		r := resultOf(m, after)
		if got := strings.Join(paths(r), " "); got != tt.want {
			t.Errorf("%s: files %q, want %q", name, got, tt.want)
		}
		f := changed(t, m, after)[tt.at]
		if f.Rule != tt.rule || (f.Answer != Ordinary) != (tt.rule != "") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestHistoryIsFoundWhateverTheTimesSay: whether a commit lies behind another one, in a
// long line, in a merge, and where times are wrong.
func TestHistoryIsFoundWhateverTheTimesSay(t *testing.T) {
	m := memory{}
	line := []gitobject.ID{m.commit(0, nil)}
	for i := range 300 {
		line = append(line, m.commit(i+1, map[string]string{"a": fmt.Sprint(i)}, line[i]))
	}
	side := m.commit(5, map[string]string{"s": "1"}, line[4])
	merge := m.commit(400, nil, line[300], side)
	future := m.commit(1_000_000_000, nil, line[2])
	afterFuture := m.commit(3, nil, future)
	h := func() *history {
		return &history{store: gitobject.New(m, &gitobject.Budget{Bytes: 1 << 20}), seen: map[gitobject.ID]gitobject.CommitInfo{}}
	}
	for name, tt := range map[string]struct {
		from, to gitobject.ID
		want     bool
	}{
		"itself": {line[3], line[3], true}, "the root": {line[300], line[0], true}, "the other way": {line[0], line[300], false}, "of a merge": {merge, side, true}, "not of the main line": {line[300], side, false},
		"behind the future": {afterFuture, line[1], true}, "the future itself": {afterFuture, future, true},
	} {
		got, err := h().reaches([]gitobject.ID{tt.from}, tt.to)
		if err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	fresh, err := h().newSince([]gitobject.ID{merge}, []gitobject.ID{line[300]})
	if err != nil || !slices.Equal(fresh, []gitobject.ID{merge, side}) {
		t.Errorf("new in the merge: %v, %v", fresh, err)
	}
	if fresh, err = h().newSince([]gitobject.ID{line[300]}, nil); err != nil || len(fresh) != 301 {
		t.Errorf("all: %d, %v", len(fresh), err)
	}
	if fresh, err = h().newSince([]gitobject.ID{side, line[200]}, []gitobject.ID{merge}); err != nil || len(fresh) != 0 {
		t.Errorf("nothing new: %d, %v", len(fresh), err)
	}
}

// TestUnknownRepositoriesAreAskedAbout: forms that are not read here.
func TestUnknownRepositoriesAreAskedAbout(t *testing.T) {
	m := memory{"HEAD": "ref: refs/heads/main\n"}
	m["refs/heads/main"] = m.commit(1, map[string]string{"a": "1"}).String() + "\n"
	for name, text := range map[string]string{
		"config sha256": "[extensions]\n\tobjectFormat = sha256\n", "config reftable": "[extensions]\n\trefStorage = reftable\n", "config worktree": "[core]\n\tworktree = ../x\n", "config bare": "[core]\n\tbare = true\n",
		"config version": "[core]\n\trepositoryformatversion = 2\n", "config partial": "[extensions]\n\tpartialClone = origin\n", "commondir": "../x\n", "objects/info/alternates": "/x\n", "config.worktree": "", "index.lock": "",
		"shallow": "nonsense\n", "packed-refs": "nonsense\n",
	} {
		file, _, _ := strings.Cut(name, " ")
		before := maps.Clone(m)
		before[file] = text
		after := maps.Clone(before)
		after["refs/heads/new"] = m["refs/heads/main"]
		if f := changed(t, before, after)["refs/heads/new"]; f.Answer != Ask || f.Rule != Unread {
			t.Errorf("%s: %+v", name, f)
		}
	}
	after := maps.Clone(m)
	after["refs/heads/new"] = m["refs/heads/main"]
	if f := changed(t, m, after)["refs/heads/new"]; f.Answer != Ordinary {
		t.Errorf("%+v", f)
	}
}

// TestRememberedTreesMustBeMade: git commits what an index remembers without looking
// at its entries.
func TestRememberedTreesMustBeMade(t *testing.T) {
	blob := strings.Repeat("b", 20)
	entries := []gitindex.Entry{{Name: "a", Mode: 0o100644, Blob: blob}, {Name: "d/e/f", Mode: 0o100755, Blob: blob}, {Name: "d.x", Mode: 0o120000, Blob: blob}}
	slices.SortFunc(entries, func(a, b gitindex.Entry) int { return strings.Compare(a.Name, b.Name) })
	trees := makeTrees(entries)
	id := func(dir string) string { i := trees[dir].id; return string(i[:]) }
	good := "\x003 1\n" + id("") + "d\x001 1\n" + id("d") + "e\x001 0\n" + id("d/e")
	for text, want := range map[string]bool{
		good: true, "\x00-1 1\nd\x00-1 0\n": true, "\x00-1 1\nd\x001 0\n" + id("d"): true,
		strings.Replace(good, id("d/e"), id("d"), 1): false, strings.Replace(good, "3 1", "2 1", 1): false, good[:len(good)-1]: false, good + "x": false, "": false,
		"\x00-1 1\nz\x000 0\n" + id("d"): false, "x\x00-1 0\n": false, "\x00-2 0\n": false, "\x00-1 -1\n": false, "\x00-1 1\n": false, "\x00-1 1\n\x00-1 0\n": false,
		"\x00-1 1\nd/e\x001 0\n" + id("d/e"): false,
	} {
		if got := sameTrees([]byte(text), entries); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !sameTrees(nil, entries) {
		t.Error("nothing remembered is right")
	}
	entries[1].Stage = 2
	if sameTrees([]byte(good), entries) {
		t.Error("a tree of a merge that is not done is remembered")
	}
}

// FuzzPackedRefs: what is understood is sorted, and each name is one that git gives.
func FuzzPackedRefs(f *testing.F) {
	h := strings.Repeat("a", 40)
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n" + h + " refs/heads/a\n" + h + " refs/tags/v\n^" + h + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parsePackedRefs(data)
		if err != nil {
			return
		}
		for name := range list {
			if !strings.HasPrefix(name, "refs/") || !properRef(name) || strings.Count(string(data), " "+name+"\n") == 0 {
				t.Errorf("%q of %q", name, data)
			}
		}
	})
}

func FuzzRef(f *testing.F) {
	f.Add([]byte("ref: refs/heads/main\n"))
	f.Add([]byte(strings.Repeat("a", 40) + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, ok := parseRef(data)
		if !ok {
			return
		}
		again := v.id.String() + "\n"
		if v.symref != "" {
			again = "ref: " + v.symref + "\n"
		}
		if again != string(data) {
			t.Errorf("%q became %q", data, again)
		}
	})
}

// FuzzTrees: what an index remembers of its trees is either what its entries make, or
// refused; and nothing has no end.
func FuzzTrees(f *testing.F) {
	f.Add([]byte("\x00-1 1\nd\x00-1 0\n"), "d/a")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		if !gitindex.Proper(name) || len(name) > maxRef {
			return
		}
		_ = sameTrees(data, []gitindex.Entry{{Name: name, Mode: 0o100644, Blob: strings.Repeat("b", 20)}})
	})
}
