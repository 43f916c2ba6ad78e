package tomltext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `{}`},
		{"# only a comment", `{}`},
		{"a = 1\r\nb = true\r\n", `{"a": 1, "b": true}`},
		{"\ufeffa = 1", `{"a": 1}`},
		{"a.b.c = 1\na.b.d = 2\n", `{"a": {"b": {"c": 1, "d": 2}}}`},
		{`"a b".'c.d' = 1`, `{"a b": {"c.d": 1}}`},
		{`a = "x\t\"\\\u00e9\U0001F600"`, `{"a": "x\t\"\\é😀"}`},
		{`a = 'C:\x\'`, `{"a": "C:\\x\\"}`},
		{"a = \"\"\"\nx\\\n   y\n\"\"z\"\"\"\"\"", `{"a": "xy\n\"\"z\"\""}`},
		{"a = '''\r\nx\\n'y'''", `{"a": "x\\n'y"}`},
		{`a = ""`, `{"a": ""}`},
		{`a = """"""`, `{"a": ""}`},
		{"a = [1, # one\n 2,\n]", `{"a": [1, 2]}`},
		{"a = [[1], ['x', {b = 1}]]", `{"a": [[1], ["x", {"b": 1}]]}`},
		{"a = { b = 1, c.d = 2, 'e f' = [] }", `{"a": {"b": 1, "c": {"d": 2}, "e f": []}}`},
		{"a = {}", `{"a": {}}`},
		{"a = {\n b = 1, # one\n}", `{"a": {"b": 1}}`},
		{`a = "\e\x41"`, `{"a": "\x1bA"}`},
		{"[t]\na = 1\n[t.u]\nb = 2\n[v]", `{"t": {"a": 1, "u": {"b": 2}}, "v": {}}`},
		{"[t.u]\na = 1\n[t]\nb = 2", `{"t": {"u": {"a": 1}, "b": 2}}`},
		{"[[p]]\na = 1\n[p.s]\nx = 1\n[[p]]\na = 2\n[[p.q]]\n", `{"p": [{"a": 1, "s": {"x": 1}}, {"a": 2, "q": [{}]}]}`},
		{"[ a . 'b' ] # c\nx = 1", `{"a": {"b": {"x": 1}}}`},
		{"a = 1_000\nb = 0xDEAD_beef\nc = -0.5e+3\nd = +inf\ne = 0b1", `{"a": 1_000, "b": 0xDEAD_beef, "c": -0.5e+3, "d": +inf, "e": 0b1}`},
		{"a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5\nc = 07:32:00\nd = 1979-05-27 # day", `{"a": "1979-05-27T07:32:00Z", "b": "1979-05-27 07:32:00.5", "c": "07:32:00", "d": "1979-05-27"}`},
		{"1 = 2\n-_ = 3", `{"1": 2, "-_": 3}`},
		{"f.a.c = 1\n[f.x]\n[f.a.t]\ny = 1", `{"f": {"a": {"c": 1, "t": {"y": 1}}, "x": {}}}`},
	}
	for _, tt := range tests {
		statements, err := Parse([]byte(tt.in))
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
		} else if got := say(Tree(statements)); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		"a",
		"\n\na = ",
		"= 1",
		"a. = 1",
		"a = 1 b = 2",
		"a = 1\na = 2",
		"a = 1\na.b = 2",
		"a = 1\n[a]",
		"[a]\n[a]",
		"[a]\nb.c = 1\n[a.b]",
		"[a.b]\n[a]\nb.c = 1",
		"a = {b = 1}\n[a.c]",
		"a = {b = 1}\na.c = 1",
		"a = []\n[[a]]",
		"[[a]]\n[a]",
		"[a]\n[[a]]",
		"[a",
		"[[a]",
		"[]",
		"[a]x = 1",
		`a = "x`,
		"a = \"x\ny\"",
		"a = \"x\\\ny\"",
		`a = """x`,
		`a = "\x"`,
		`a = "\u12"`,
		`a = "\ud800"`,
		`a = "\UFFFFFFFF"`,
		`a = "\u+123"`,
		"a = \"\x01\"",
		"a = '\x7f'",
		"a = 1 # \x01",
		"a = 1\rb = 2",
		"# c\r",
		"a = \"\"\"x\ry\"\"\"",
		`"""a""" = 1`,
		"a = 01",
		"a = 1__0",
		"a = .5",
		"a = True",
		"a = nope",
		"a = 1979-5-27",
		"a = [1 2]",
		"a = [,]",
		"a = [1",
		"a = {b = 1, b = 2}",
		"a = {b.c = 1, b = 2}",
		"a = \"\xff\"",
		"a = 1979-13-27",
		"a = 99999999999999999999",
		"a = " + strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2),
		"a = " + strings.Repeat("{a=", maxDepth+2) + "1" + strings.Repeat("}", maxDepth+2),
		strings.Repeat("a.", maxDepth+2) + "a = 1",
	} {
		if _, err := Parse([]byte(in)); err == nil {
			t.Errorf("%q is read", in)
		}
	}
	for in, want := range map[string]string{
		"\n\na = ":                                   "line 3: expected value, not end of input",
		"a = 1\r\n'\u200b' = 1\n'\u200b' = 2":        "line 3: key [U+200B] is already defined",
		"a = 1\n\nb = " + strings.Repeat("[", 1<<20): "line 3: ",
	} {
		if _, err := Parse([]byte(in)); err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 250 {
			t.Errorf("%.60q: %v, want %q", in, err, want)
		}
	}
}

// TestParseKnowsWhereThingsStand: the bytes of each statement are its own.
func TestParseKnowsWhereThingsStand(t *testing.T) {
	const src = "a = 1 # one\n\n[b.c] # two\nd.e = \"\"\"\nx\"\"\"\nf = [\n 1 ] # three\n"
	want := []string{"a = 1", "[b.c]", "d.e = \"\"\"\nx\"\"\"", "f = [\n 1 ]"}
	paths := []string{"a", "b c", "b c d e", "b c f"}
	lines := []int{1, 3, 4, 6}
	statements, err := Parse([]byte(src))
	if err != nil || len(statements) != len(want) {
		t.Fatalf("%v, %v", statements, err)
	}
	for i, s := range statements {
		path := strings.Join(append(slices.Clone(s.Table), s.Key...), " ")
		if got := src[s.Start:s.End]; got != want[i] || path != paths[i] || s.Line != lines[i] {
			t.Errorf("statement %d is %q at %s, line %d, want %q at %s, line %d", i, got, path, s.Line, want[i], paths[i], lines[i])
		}
	}
}

// say writes a value in the way of JSON, scalars as they are written.
func say(v *Value) string {
	var parts []string
	switch v.Kind {
	case Text, Date:
		return strconv.Quote(v.Text)
	case List:
		for _, e := range v.List {
			parts = append(parts, say(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Table:
		for _, f := range v.Fields {
			parts = append(parts, fmt.Sprintf("%q: %s", f.Name, say(f.Value)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.Text
}

// FuzzParse: statements stand behind each other, each where it says, and the
// value of a pair reads as it does alone.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a = 1\n[b]\nc.d = {e = [1, 'x']}\n", "\ufeff[[a]] # x\r\n[[a.b]]\n", "[ a . 'b' ]\nx = \"\"\"\ny\"\"\"", "a = 1979-05-27 07:32:00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		statements, err := Parse(src)
		if err != nil {
			return
		}
		at := 0
		for _, s := range statements {
			if s.Start < at || s.End <= s.Start || s.End > len(src) || s.Header() != (src[s.Start] == '[') || s.Header() && src[s.End-1] != ']' {
				t.Fatalf("%+v behind %d of %q", s, at, src)
			}
			at = s.End
			if s.Header() {
				continue
			}
			if s.ValueStart <= s.Start || s.ValueStart >= s.End {
				t.Fatalf("%+v of %q", s, src)
			}
			alone, err := Parse(append([]byte("a="), src[s.ValueStart:s.End]...))
			if err != nil || say(alone[0].Value) != say(s.Value) {
				t.Fatalf("%q of %q: %v", src[s.ValueStart:s.End], src, err)
			}
		}
		Tree(statements)
	})
}
