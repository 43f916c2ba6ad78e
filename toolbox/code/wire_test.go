package code

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// nowhere is a box whose interpreters never start.
func nowhere(t testing.TB, needs Needs) *Box {
	t.Helper()
	needs.Languages = []Language{{"python", "Python 3.11"}, {"javascript", "Node.js 20.1"}, {"shell", "bash"}}
	if needs.Run == nil {
		needs.Run = func(context.Context, Program) (toolcrib.Exit, error) {
			return toolcrib.Exit{}, fmt.Errorf("nothing runs here")
		}
	}
	if needs.Place == nil {
		needs.Place = func(string, Risk) (string, error) { return "linux", nil }
	}
	b, err := Open(t.Context(), Config{}, needs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return nowhere(t, Needs{}) })
	for name, open := range map[string]func() (*Box, error){
		"negative": func() (*Box, error) { return Open(t.Context(), Config{Sessions: -1}, Needs{}) },
		"no runner": func() (*Box, error) {
			return Open(t.Context(), Config{}, Needs{Languages: []Language{{Name: "python"}}})
		},
		"unknown": func() (*Box, error) {
			b := nowhere(t, Needs{})
			return Open(t.Context(), Config{}, Needs{Languages: []Language{{Name: "cobol"}}, Run: b.needs.Run, Place: b.needs.Place})
		},
	} {
		if _, err := open(); err == nil {
			t.Errorf("%s: it opened", name)
		}
	}
	b, err := Open(t.Context(), Config{}, Needs{Reason: "there is no sandbox"})
	if err != nil {
		t.Fatal(err)
	}
	if tools, err := b.Tools(t.Context()); err != nil || len(tools) != 0 {
		t.Errorf("%v, %v", tools, err)
	}
	if _, why := b.Absent(); why["run_code"] != "there is no sandbox" {
		t.Errorf("%v", why)
	}
}

func TestNames(t *testing.T) {
	for path, want := range map[string]string{
		"a.csv": "a.csv", "./d/a.csv": "d/a.csv", "d/../a.csv": "a.csv", "../a.csv": "a.csv", "../../d/a.csv": "a.csv", "/x/y/a.csv": "a.csv", "~/a.csv": "a.csv", "..": "..", "": ".",
	} {
		if got := inside(path); got != want {
			t.Errorf("%q is %q", path, got)
		}
	}
	for name, want := range map[string]bool{
		"a": true, "d/a.txt": true, "ä b.txt": true, "": false, "/a": false, "..": false, "a/../b": false, "a//b": false, "a/": false, "a\x00b": false, "a\nb": false, "\u202eb": false, strings.Repeat("x", 256): false, "\xff": false,
	} {
		if cleanName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestRisks(t *testing.T) {
	for _, c := range []struct {
		least Risk
		files int
		want  Risk
	}{{Unrated, 0, Low}, {Low, 1, Medium}, {Medium, 0, Medium}, {High, 1, High}, {Critical, 0, Critical}} {
		if got := (Config{Risk: c.least}).riskOf(c.files); got != c.want {
			t.Errorf("%v with %d files is %v", c.least, c.files, got)
		}
	}
	for _, name := range []string{"low", "medium", "high", "critical"} {
		if r, err := ParseRisk(name); err != nil || r.String() != name {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	if r, err := ParseRisk("tiny"); err == nil || r != Critical {
		t.Errorf("%v, %v", r, err)
	}
	// A session stays where it began: what needs another place is refused.
	b := nowhere(t, Needs{Place: func(_ string, r Risk) (string, error) {
		if r >= Medium {
			return "", fmt.Errorf("the sandbox container is not there")
		}
		return "linux", nil
	}})
	if _, _, err := b.session(t.Context(), toolcrib.Call{}, "python", "main", Medium); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("%v", err)
	}
}

// FuzzWire: whatever a driver writes, in whatever pieces, is taken within the bounds, and the pieces do not matter.
func FuzzWire(f *testing.F) {
	for _, s := range []string{
		"text 1 2\nhi" + "done 1 2\n{}", "done 1 0\n", "text 2 5\nother" + "done 1 0\n", "x", "text 1 99999999999\n", "text -1 1\n", "text 1\n", strings.Repeat("a", 300), "png 1 3\n\x00\n\n" + "done 1 1\n1", " 1 0\n", "done 1 0\ntext 1 1\nx",
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		read := func(n int) string {
			w := newWire()
			w.expect(1)
			for rest := data; len(rest) > 0; {
				k := min(n, len(rest))
				if wrote, err := w.Write(rest[:k]); err != nil || wrote != k {
					t.Fatal(wrote, err)
				}
				rest = rest[k:]
			}
			ended, broken := w.state()
			frames, left := w.taken()
			total := 0
			for _, fr := range frames {
				total += len(fr.data)
				if fr.cell != 1 {
					t.Errorf("a frame of cell %d", fr.cell)
				}
			}
			if total > maxPayload || len(frames) > maxFrames+1 || total > len(data) {
				t.Errorf("%d frames with %d bytes", len(frames), total)
			}
			return fmt.Sprint(ended, broken, frames, left)
		}
		if one, many := read(len(data)+1), read(int(step)+1); one != many {
			t.Errorf("%s, and in pieces %s", one, many)
		}
	})
}

// FuzzOutput: marks are found however the stream is cut, and all else is kept as it came.
func FuzzOutput(f *testing.F) {
	for _, s := range []string{"abc", "a\x1eMARK\x1eb", "\x1eMAR", "\x1e\x1eMARK\x1e\x1eMARK\x1e", "\x1eMARK", strings.Repeat("long ", 100)} {
		f.Add([]byte(s), uint8(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		const mark = "\x1eMARK\x1e"
		o := newOutput(mark, 64, 1<<20)
		o.begin(nil)
		for rest := data; len(rest) > 0; {
			k := min(int(step)+1, len(rest))
			_, _ = o.Write(rest[:k])
			rest = rest[k:]
		}
		if got, want := o.marks, bytes.Count(data, []byte(mark)); got != want {
			t.Errorf("%d marks of %d", got, want)
		}
		// What may be a mark is held back until it is clear.
		_, _ = o.Write([]byte("."))
		want := strings.ToValidUTF8(strings.ReplaceAll(string(data)+".", mark, ""), "\uFFFD")
		got := o.end()
		if len(data) < 32 && got != want {
			t.Errorf("%q became %q", want, got)
		}
		if len(got) > 64*3+100 {
			t.Errorf("%d bytes are kept", len(got))
		}
	})
}

// FuzzAnswer: what code writes as frames becomes a result within its bounds.
func FuzzAnswer(f *testing.F) {
	f.Add("json", []byte(`{"a":1}`))
	f.Add("table", []byte(`{"columns":["a"],"rows":[[1]],"total_rows":1}`))
	f.Add("files", []byte(`[{"name":"../x","size":-1}]`))
	f.Add("png", []byte("\x89PNG\r\n\x1a\n"))
	f.Add("error", []byte("\xff"))
	f.Add("done", []byte(`{"status":"lost"}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		s := &session{out: newOutput("m", 10, 10), over: make(chan struct{})}
		out, images := cellResult{frames: []frame{{kind, 1, data}, {kind, 1, data}}, status: "ok"}.answer(s, 1)
		if len(images) > maxImages || len(out.Text) > maxShown+100 || len(out.Files) > maxListed {
			t.Errorf("%+v", out)
		}
		for _, f := range out.Files {
			if !cleanName(f.Name) || f.Size < 0 {
				t.Errorf("%+v", f)
			}
		}
		if out.told() == "" {
			t.Error("nothing is told")
		}
	})
}
