package files

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// hidePass hides what stands behind pass=, up to a blank.
func hidePass(text string) (list []Span, _ error) {
	for at := 0; ; {
		n := strings.Index(text[at:], "pass=")
		if n < 0 {
			return list, nil
		}
		from := at + n + len("pass=")
		at = from + max(strings.IndexAny(text[from:], " \n"), 0)
		list = append(list, Span{from, at})
	}
}

// carried is a memory of values, as a scanner has one.
type carried struct{ values []string }

func (c *carried) Add(text string, hidden []Span) {
	for _, h := range hidden {
		c.values = append(c.values, strings.Clone(text[h.From:h.To]))
	}
}

func (c *carried) Find(text string, hidden []Span) []Span {
	hidden = slices.Clone(hidden)
	for _, value := range c.values {
		for at := 0; ; at += len(value) {
			n := strings.Index(text[at:], value)
			if n < 0 {
				break
			}
			at += n
			hidden = append(hidden, Span{at, at + len(value)})
		}
	}
	slices.SortFunc(hidden, func(a, b Span) int { return a.From - b.From })
	return slices.Compact(hidden)
}

// TestHiddenFarApart: a value that is hidden beside its name is hidden wherever
// else it stands in the file, however far away, before it or behind it.
func TestHiddenFarApart(t *testing.T) {
	const value = "hunter2secret99"
	far := strings.Repeat("# "+strings.Repeat("x", 61)+"\n", (windowSize+2*windowHead)/64)
	d := newDesk(t, Config{Hide: hidePass, Again: func() Again { return &carried{} }})
	for name, text := range map[string]string{
		"behind.txt": "pass=" + value + "\n" + far + "the login is " + value + "\n",
		"before.txt": "the login is " + value + "\n" + far + "pass=" + value + "\n",
		"wide.txt":   "\xff\xfe" + wideText("pass="+value+"\n"+far+"the login is "+value+"\n", false),
		"line.txt":   "pass=" + value + " " + strings.ReplaceAll(far, "\n", " ") + "\nthe login is " + value + "\n",
	} {
		d.put(t, name, text)
		var all strings.Builder
		look := func(tool string, in map[string]any) { fmt.Fprintln(&all, d.must(t, tool, in)) }
		if name != "line.txt" {
			look("read_file", map[string]any{"path": name, "end_line": 2})
		}
		look("read_file", map[string]any{"path": name, "start_line": strings.Count(text, "\n") - 1})
		if name != "wide.txt" {
			look("search_files", map[string]any{"path": name, "pattern": "login"})
			look("search_files", map[string]any{"path": ".", "file_pattern": name, "pattern": "login"})
			if got := fmt.Sprint(d.must(t, "search_files", map[string]any{"path": name, "pattern": value})); !strings.Contains(got, "count:0") {
				t.Errorf("%s: the value is found: %.300s", name, got)
			}
		}
		if got := all.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "login is [redacted]") {
			t.Errorf("%s: the value is shown: %v, the mark is: %v", name, strings.Contains(got, "hunter2"), strings.Contains(got, "login is [redacted]"))
		}
	}
}

// TestChangedMeanwhile: a text that is another one by the time it is given is
// looked at anew.
func TestChangedMeanwhile(t *testing.T) {
	far := strings.Repeat("# fifteen bytes\n", windowSize/8)
	b := &Box{cfg: Config{Hide: hidePass, Again: func() Again { return &carried{} }}.filled()}
	var out strings.Builder
	err := b.covered(strings.NewReader("pass=one\n"+far+"pass=two\n"), func() io.Reader { return strings.NewReader(far + far) }, func(p []byte) error { out.Write(p); return nil })
	if got := out.String(); err != nil || strings.Contains(got, "pass=o") || strings.Contains(got, "pass=t") || strings.Count(got, "[redacted]") != 2 {
		t.Errorf("%d bytes with %d marks, %v", len(got), strings.Count(got, "[redacted]"), err)
	}
}
