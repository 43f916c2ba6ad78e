package layer

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// oddNames are files whose names are no text, or look like other lines.
const oddNames = `f=$(printf 'a\377b'); d=$(printf 'dir\303'); n=$(printf 'new\nline\033[31m'); mkdir "$d"; echo 1 > "$f"; echo 1 > "$d/$f"; echo 1 > "$n"; echo 1 > gone"$f"`

const oddScript = `f=$(printf 'a\377b'); d=$(printf 'dir\303'); n=$(printf 'new\nline\033[31m'); m=$(printf 'made\377\376'); echo 2 > "$f"; chmod 700 "$d/$f"; echo 2 >> "$n"; rm gone"$f"; mkdir "$m"; echo 3 > "$m/$f"; ln -s "$f" "$d/$m"`

// TestNamesThatAreNoText: a name is kept byte for byte, is shown on one line as text, and
// can be applied, found again after a crash, and taken back.
func TestNamesThatAreNoText(t *testing.T) {
	g, direct := newGround(t, oddNames), newGround(t, oddNames)
	before := listing(t, g.tree.Root)
	s := g.run(oddScript)
	shown := s.Show(func(Change) bool { return true }, func(Change) bool { return false })
	if !utf8.ValidString(shown) || strings.Contains(shown, "\x1b") || !strings.Contains(shown, `a\xffb`) || !strings.Contains(shown, `new\nline\x1b[31m`) {
		t.Errorf("shown as\n%q", shown)
	}
	direct.live(oddScript)
	after := listing(t, direct.tree.Root)
	ended := false
	for at := 0; !ended; at++ {
		k := newGround(t, oddNames)
		since := k.now()
		k.on(oddScript)
		ended = k.dieAt(at, since)
		if _, err := Recover(k.record()); err != nil {
			t.Fatalf("point %d: %v", at, err)
		}
		if now := listing(t, k.tree.Root); now != after && (now != before || ended) {
			t.Errorf("point %d: half of it:\n%s", at, now)
		}
	}
	g.apply(s)
	if now := listing(t, g.tree.Root); now != after {
		t.Errorf("applied:\n%s\nrun there:\n%s", now, after)
	}
	if a, err := ReadApplied(g.record()); err != nil {
		t.Error(err)
	} else if shown, err := shownUndo(a); err != nil || !utf8.ValidString(shown) || !strings.Contains(shown, `a\xffb`) {
		t.Errorf("taking back is shown as %q, %v", shown, err)
	}
	if err := g.undo(); err != nil {
		t.Fatal(err)
	}
	if now := listing(t, g.tree.Root); now != before {
		t.Errorf("undone:\n%s\nbefore:\n%s", now, before)
	}
}

// TestDirectoryThatIsNoText is the same for the granted directory.
func TestDirectoryThatIsNoText(t *testing.T) {
	g := newGround(t, project)
	root := g.tree.Root + "\xff"
	if err := os.Rename(g.tree.Root, root); err != nil {
		t.Fatal(err)
	}
	g.tree.Root = root
	before := listing(t, root)
	g.elsewhere()
	g.apply(g.run(undoScript))
	if err := g.undo(); err != nil {
		t.Fatal(err)
	}
	if now := listing(t, root); now != before {
		t.Errorf("undone:\n%s\nbefore:\n%s", now, before)
	}
}

// FuzzRecord: whatever lies where a record should be is refused, or names nothing outside
// of its directories, and is written down as it was read.
func FuzzRecord(f *testing.F) {
	whole := record{
		Version: recordVersion, Done: true, Trees: []recordTree{{Root: "/p\xff", Stage: "/l/0"}, {Root: "/q", Stage: "/.toolcrib-layer-1", Temporary: true, NotKept: "why"}},
		Steps: []step{{Action: swap, Live: "a\xff/b", Aside: "upper/a\xff/b", Old: identity{Inode: 1}, New: identity{Inode: 2}}, {Action: take, Tree: 1, Live: "c", Aside: "old/1"}, {Action: mode, OldMode: 0o644, NewMode: 0o755}},
	}
	path := filepath.Join(f.TempDir(), "record.json")
	if err := whole.write(path); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, other := range []string{
		`{}`, `null`, `[`, `{"version":2}`, `{"version":1,"trees":[{"root":"p","stage":"0"}]}`, `{"version":1,"trees":[{"root":"/p","stage":"../0"}]}`,
		`{"version":1,"trees":[{"root":"/p","stage":"0"}],"steps":[{"action":"put","tree":1}]}`, `{"version":1,"trees":[{"root":"/p","stage":"0"}],"steps":[{"action":"put","live":"../x"}]}`,
		`{"version":1,"trees":[{"root":"/p","stage":"0"}],"steps":[{"action":"put","live":"a\u0000b"}]}`, `{"version":1,"trees":[{"root":"\u0000!","stage":"0"}]}`,
		`{"version":1,"trees":[{"root":"/p","stage":"0"}],"steps":[{"action":"put","live":"\u0000Li4v"}]}`,
	} {
		f.Add([]byte(other))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseRecord(text, "/l")
		if err != nil {
			return
		}
		for _, s := range r.Steps {
			tree := r.Trees[s.Tree]
			for around, path := range map[string]string{tree.Root: s.Live, tree.Stage: s.Aside} {
				if around, path = filepath.Clean(around), filepath.Join(around, path); path != around && !strings.HasPrefix(path, strings.TrimSuffix(around, "/")+"/") {
					t.Errorf("a step leads to %q, out of %q", path, around)
				}
			}
		}
		file := filepath.Join(t.TempDir(), "record.json")
		if err := r.write(file); err != nil {
			t.Fatal(err)
		}
		again, _, err := readRecord(file)
		if err != nil {
			t.Fatalf("%v\n%q", err, text)
		}
		one, errOne := json.Marshal(r)
		two, errTwo := json.Marshal(again)
		if errOne != nil || errTwo != nil || !bytes.Equal(one, two) {
			t.Errorf("read again: %s\nwas: %s", two, one)
		}
		for i, path := range r.paths() {
			if *path != *again.paths()[i] {
				t.Errorf("path %s is %q, and was %q", strconv.Itoa(i), *again.paths()[i], *path)
			}
		}
	})
}

// FuzzRestored: what undo has put back is read as it was written, and a list that was cut
// off says nothing of files that were not put back.
func FuzzRestored(f *testing.F) {
	f.Add([]byte("1 2\n18446744073709551615 9223372036854775807\n"), 4)
	f.Add([]byte("1 2 3\nx 2\n-1 2\n\n1\n 1 2\n1 0x2\n1 2"), 1)
	f.Add(bytes.Repeat([]byte("1"), 70_000), 9)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		list := parseRestored(text)
		delete(list, restored{0, math.MinInt64}) // too old for any list
		written := restoredText(list, math.MinInt64)
		if again := parseRestored(written); !maps.Equal(list, again) {
			t.Errorf("read again: %v\nwas: %v", again, list)
		}
		for r := range parseRestored(written[:min(max(cut, 0), len(written))]) {
			if !list[r] {
				t.Errorf("%+v was never put back", r)
			}
		}
	})
}

// FuzzStages: whatever lies where the list of stages should be, nothing of another name is
// removed because of it.
func FuzzStages(f *testing.F) {
	f.Add([]byte(`[{"path":"/p/.toolcrib-layer-X","inode":7},{"path":"/.toolcrib-layer-Y"}]`))
	f.Add([]byte(`[{"path":"/p/.toolcrib-layer-X/.."},{"path":"relative/.toolcrib-layer-X"}]`))
	f.Add([]byte(`[{"path":"/p/.toolcrib-layer-"},null,{"path":"\u0000L2V0Yw=="}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &stages{}
		if s.parse(text) != nil {
			return
		}
		for _, st := range s.list {
			if !filepath.IsAbs(st.Path) || !strings.HasPrefix(filepath.Base(st.Path), stagePrefix) || filepath.Base(st.Path) == stagePrefix {
				t.Errorf("%q counts as a stage", st.Path)
			}
		}
	})
}
