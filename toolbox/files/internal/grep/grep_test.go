package grep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// found is what a search gives, as "line:text".
func found(t testing.TB, pattern string, opt Options, text string) []string {
	t.Helper()
	q, err := Compile(pattern, opt)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return lines(t, q.NewSearcher(0), strings.NewReader(text), int64(len(text)))
}

func lines(t testing.TB, s *Searcher, r io.Reader, size int64) []string {
	t.Helper()
	var got []string
	_, err := s.Search(r, size, func(m Match) bool {
		got = append(got, fmt.Sprintf("%d:%s", m.Line, m.Text))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// reference does it the slow way.
func reference(pattern string, opt Options, text string) ([]string, error) {
	if !opt.Regex {
		pattern = regexp.QuoteMeta(pattern)
	}
	if opt.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var want []string
	n := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line == "" {
			break
		}
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if re.MatchString(line) {
			want = append(want, fmt.Sprintf("%d:%s", n, cutText([]byte(line), 0)))
		}
	}
	return want, nil
}

func TestSearch(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		opt     Options
		text    string
		want    []string
	}{
		{"b", Options{}, "a\nb\nab", []string{"2:b", "3:ab"}},
		{"b", Options{}, "", nil},
		{"needle", Options{}, "hay\r\nneedle\r\n", []string{"2:needle"}},
		{"a.c", Options{}, "abc\na.c\n", []string{"2:a.c"}},
		{"a.c", Options{Regex: true}, "abc\na.c\n", []string{"1:abc", "2:a.c"}},
		{"ABC", Options{IgnoreCase: true}, "xabcx\nab\nAbC", []string{"1:xabcx", "3:AbC"}},
		{"kiss", Options{IgnoreCase: true}, "KISS\n\u212aIS\u017f\nkis\n", []string{"1:KISS", "2:\u212aIS\u017f"}},
		{"straße", Options{IgnoreCase: true}, "STRAßE\nstrasse\nSTRAẞE\n", []string{"1:STRAßE", "3:STRAẞE"}},
		{"^$", Options{Regex: true}, "a\n\nb\n", []string{"2:"}},
		{"^$", Options{Regex: true}, "a\r\n\r\nb\n", []string{"2:"}},
		{"foo$", Options{Regex: true}, "foo\r\nfoo \nfoo", []string{"1:foo", "3:foo"}},
		{`\bcat\b`, Options{Regex: true}, "cat\nconcat\na cat.\n", []string{"1:cat", "3:a cat."}},
		{`^a+b?$`, Options{Regex: true}, "aab\naac\na\n", []string{"1:aab", "3:a"}},
		{`[^a]`, Options{Regex: true}, "a\n\xff\naa\né\n", []string{"2:\xff", "4:é"}},
		{`^..$`, Options{Regex: true}, "é\néé\n\xff\xfe\n", []string{"2:éé", "3:\xff\xfe"}},
		{"\ufffd", Options{}, "\xff\nx\n\ufffd\n", []string{"1:\xff", "3:\ufffd"}},
		{`x|y|z`, Options{Regex: true}, "x\na\nz\n", []string{"1:x", "3:z"}},
		{`(foo|bar|baz)qux`, Options{Regex: true}, "fooqux\nbar\nbazqux\n", []string{"1:fooqux", "3:bazqux"}},
		{`(?s)a.b`, Options{Regex: true}, "a\nb\naxb\n", []string{"3:axb"}},
		{`a\nb`, Options{Regex: true}, "a\nb\n", nil},
		{`\pL{3}\d`, Options{Regex: true}, "äöü1\nab1\nabc2", []string{"1:äöü1", "3:abc2"}},
	} {
		got := found(t, tt.pattern, tt.opt, tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q %+v in %q (-want +got):\n%s", tt.pattern, tt.opt, tt.text, diff)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		opt     Options
	}{
		{"", Options{}}, {"a\nb", Options{}}, {"(", Options{Regex: true}}, {"(?=a", Options{Regex: true}}, {`\8`, Options{Regex: true}}, {"(?<=", Options{Regex: true}},
		{strings.Repeat("a", maxPattern+1), Options{}}, {strings.Repeat("(a{1000}){1000}", 1), Options{Regex: true}},
	} {
		if _, err := Compile(tt.pattern, tt.opt); err == nil {
			t.Errorf("%.40q was taken", tt.pattern)
		}
	}
}

func TestRequired(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		want    []want
		exact   bool
	}{
		{`abc`, []want{{"abc", false}}, true},
		{`(?i)abc`, []want{{"abc", true}}, true},
		{`(?i)mask_me`, []want{{"_me", true}}, false},
		{`a.*handler\(`, []want{{"handler(", false}}, false},
		{`\bfoo\b`, []want{{"foo", false}}, false},
		{`foo|barn`, []want{{"foo", false}, {"barn", false}}, true},
		{`x(foo|barn)+`, []want{{"foo", false}, {"barn", false}}, false},
		{`ab+c`, []want{{"ab", false}}, false},
		{`[Ee]rror`, []want{{"error", true}}, false},
		{`[0-9]+`, nil, false},
		{`(foo)?`, nil, false},
		{`foo|x*`, nil, false},
	} {
		q, err := Compile(tt.pattern, Options{Regex: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []want
		for _, l := range q.lits {
			got = append(got, want{string(l.text), l.fold})
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{})); diff != "" || q.exact != tt.exact {
			t.Errorf("%s: exact %v, want %v (-want +got):\n%s", tt.pattern, q.exact, tt.exact, diff)
		}
	}
}

// TestWindows: lines that cross the borders of the buffer, in files larger
// than it, read in pieces of every size.
func TestWindows(t *testing.T) {
	var text strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&text, "line %d of the text with number %d\n", i+1, i%100)
		if i%1000 == 7 {
			text.WriteString(strings.Repeat("long ", 30_000) + "needle 42 number 42\r\n")
		}
	}
	for _, pattern := range []string{"number 42", `[0-9]{2} number \d+$`, `number 4[0-9]$`} {
		want, err := reference(pattern, Options{Regex: true}, text.String())
		if err != nil || len(want) == 0 {
			t.Fatal(want, err)
		}
		for i := range want { // long lines are shown around the match
			n, line, _ := strings.Cut(want[i], ":")
			if strings.HasPrefix(line, "long") {
				want[i] = n + ":long"
			}
		}
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text.String()), "halves": iotest.HalfReader(strings.NewReader(text.String())),
			"end with data": iotest.DataErrReader(strings.NewReader(text.String())),
		} {
			q, err := Compile(pattern, Options{Regex: true})
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, q.NewSearcher(0), r, 0)
			for i := range got {
				if n, line, _ := strings.Cut(got[i], ":"); len(line) > 100 {
					if !strings.Contains(line, "number 42") {
						t.Errorf("%s: the match is not in what is shown of line %s", pattern, n)
					}
					got[i] = n + ":long"
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: (-want +got)\n%s", pattern, name, diff)
			}
		}
	}
}

func TestContextLines(t *testing.T) {
	text := "1\n2\nhit 3\n4\n5\nhit 6"
	q, err := Compile("hit", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []Match
	if _, err := q.NewSearcher(2).Search(strings.NewReader(text), 0, func(m Match) bool { got = append(got, m); return true }); err != nil {
		t.Fatal(err)
	}
	want := []Match{
		{Line: 3, Text: "hit 3", Before: []string{"1", "2"}, After: []string{"4", "5"}},
		{Line: 6, Text: "hit 6", Before: []string{"4", "5"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBinaryStopAndError(t *testing.T) {
	q, err := Compile("a", Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := q.NewSearcher(0)
	n := 0
	count := func(Match) bool { n++; return n < 2 }
	if binary, err := s.Search(strings.NewReader("a\x00a\n"), 0, count); !binary || err != nil || n != 0 {
		t.Errorf("binary %v, %v, %d found", binary, err, n)
	}
	if _, err := s.Search(strings.NewReader("a\na\na\n"), 0, count); err != nil || n != 2 {
		t.Errorf("%v, %d found after stopping at the second", err, n)
	}
	broken := io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(errors.New("disk on fire")))
	if _, err := s.Search(broken, 0, count); err == nil {
		t.Error("a failing reader was taken for the end")
	}
}

// TestGivingUp: an automaton that explodes hands over to regexp.
func TestGivingUp(t *testing.T) {
	pattern := `[ab]*a[ab]{14}c[ab]*a[ab]{14}d`
	var text bytes.Buffer
	x := uint32(1)
	for i := range 400_000 {
		x = x*1664525 + 1013904223
		text.WriteByte("ab"[x>>31])
		if i%500 == 499 {
			text.WriteString("c\n")
		}
	}
	text.WriteString("abbbbbbbbbbbbbbcabbbbbbbbbbbbbbd\n")
	q, err := Compile(pattern, Options{Regex: true})
	if err != nil {
		t.Fatal(err)
	}
	q.lits = nil // let the automaton read everything
	s := q.NewSearcher(0)
	s.dfa.flushes = maxFlushes - 1
	got := lines(t, s, &text, 0)
	if !s.dfa.gaveUp() {
		t.Error("the automaton did not grow: the test shows nothing")
	}
	if len(got) != 1 || !strings.HasSuffix(got[0], "d") {
		t.Errorf("got %d lines: %.200q", len(got), got)
	}
}

// TestAgainstRegexp holds the engine to its invariant on generated patterns
// and texts.
func TestAgainstRegexp(t *testing.T) {
	atom := rapid.SampledFrom([]string{"a", "b", "k", "S", "é", "ſ", ".", "[ab]", "[^a]", `\d`, `\w`, `\b`, `\B`, "^", "$", "(a|bc)", "(?:ab)+", "x?", "b*", "[é-ü]", `\s`, "_", "foo", "ba+r"})
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(atom, 1, 5).Draw(t, "pattern"), "")
		opt := Options{Regex: rapid.Bool().Draw(t, "regex"), IgnoreCase: rapid.Bool().Draw(t, "fold")}
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c", "K", "\u212a", "s", "ſ", "é", "É", "1", "_", " ", "\n", "\r\n", "\r", "\xff", "\xc3", "foo", "BAR", "baar"})).Draw(t, "text"), "")
		check(t, pattern, opt, text)
	})
}

func check(t interface {
	Fatalf(string, ...any)
}, pattern string, opt Options, text string) {
	want, err := reference(pattern, opt, text)
	q, qerr := Compile(pattern, opt)
	if (err != nil) != (qerr != nil) {
		if err == nil && (pattern == "" || len(pattern) > maxPattern || !opt.Regex && strings.Contains(pattern, "\n")) {
			return
		}
		t.Fatalf("%q: regexp says %v, we say %v", pattern, err, qerr)
	}
	if err != nil || strings.Contains(text, "\x00") {
		return
	}
	var got []string
	if _, err := q.NewSearcher(0).Search(strings.NewReader(text), 0, func(m Match) bool {
		got = append(got, fmt.Sprintf("%d:%s", m.Line, m.Text))
		return true
	}); err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" && !strings.Contains(diff, "…") {
		t.Fatalf("%q %+v in %q (-regexp +ours):\n%s", pattern, opt, text, diff)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("a.c", "abc\nxyz", true, false)
	f.Add("K", "\u212a\nk", false, true)
	f.Add(`^\b.+$`, "\xff\r\n\r\nx", true, true)
	f.Fuzz(func(t *testing.T, pattern, text string, regex, fold bool) {
		if len(pattern) > 60 || len(text) > 400 {
			return
		}
		check(t, pattern, Options{Regex: regex, IgnoreCase: fold}, text)
	})
}

// TestApart: what is found in a text with marks in it is not missed by the look
// at the text before.
func TestApart(t *testing.T) {
	const mark = "[redacted]"
	for pattern, want := range map[string]bool{
		"token": true, "func main": true, `token|other`: true, `\[redacted\]|x1`: false, `a\[`: false, `\]b`: false, "redacted": false, "acted": false, "REDACTED": false, "e": false,
		`\w+`: false, `x(?=y)`: false, "key: \\[re": false, `(?i)Token`: true,
	} {
		q, err := Compile(pattern, Options{Regex: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Apart(mark) != nil; got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}

func FuzzApart(f *testing.F) {
	f.Add("tok|d\\]", "a token secret here", uint8(8), uint8(6))
	f.Fuzz(func(t *testing.T, pattern, text string, from, n uint8) {
		q, err := Compile(pattern, Options{Regex: true, Binary: true})
		if err != nil || q.back != nil || int(from)+int(n) > len(text) || strings.Contains(text, "\n") {
			return
		}
		finds := func(q *Query, text string) (hit bool) {
			_, _ = q.NewSearcher(0).Search(strings.NewReader(text), 0, func(Match) bool { hit = true; return false })
			return hit
		}
		marked := text[:from] + "[redacted]" + text[from+n:]
		if screen := q.Apart("[redacted]"); screen != nil && finds(q, marked) && !finds(screen, text) {
			t.Errorf("%q in %q, but not in %q", pattern, marked, text)
		}
	})
}
