package clientfiles

import (
	"strings"
	"testing"
)

func TestTOML(t *testing.T) {
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
		v, _, err := parseTOML([]byte(tt.in))
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
		} else if got := (style{flat: true}).json(v, ""); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestTOMLRefuses(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a", "line 1: want ="},
		{"\n\na = ", "line 3: want a value"},
		{"= 1", "want a key"},
		{"a. = 1", "want a key"},
		{"a = 1 b = 2", "something follows"},
		{"a = 1\na = 2", "line 2: the key a is given twice"},
		{"a = 1\na.b = 2", "cannot be added to"},
		{"a = 1\n[a]", "is there already"},
		{"[a]\n[a]", "is there already"},
		{"[a]\nb.c = 1\n[a.b]", "is there already"},
		{"[a.b]\n[a]\nb.c = 1", "cannot be added to"},
		{"a = {b = 1}\n[a.c]", "is a value already"},
		{"a = {b = 1}\na.c = 1", "cannot be added to"},
		{"a = []\n[[a]]", "no array of tables"},
		{"[[a]]\n[a]", "is there already"},
		{"[a]\n[[a]]", "no array of tables"},
		{"[a", "not closed"},
		{"[[a]", "not closed"},
		{"[]", "want a key"},
		{"[a]x = 1", "something follows"},
		{`a = "x`, "not closed on its line"},
		{"a = \"x\ny\"", "not closed on its line"},
		{"a = \"x\\\ny\"", "not closed on its line"},
		{`a = """x`, "not closed"},
		{`a = "\x"`, "not known"},
		{`a = "\u12"`, "cut short"},
		{`a = "\ud800"`, "no character"},
		{`a = "\UFFFFFFFF"`, "no character"},
		{`a = "\u+123"`, "no character"},
		{"a = \"\x01\"", "control characters"},
		{"a = '\x7f'", "control characters"},
		{"a = 1 # \x01", "control characters"},
		{"a = 1\rb = 2", "carriage return"},
		{"# c\r", "control characters"},
		{"a = \"\"\"x\ry\"\"\"", "carriage return"},
		{`"""a""" = 1`, "several lines"},
		{"a = 01", "want a value"},
		{"a = 1__0", "want a value"},
		{"a = .5", "want a value"},
		{"a = True", "want a value"},
		{"a = nope", "want a value"},
		{"a = 1979-5-27", "want a value"},
		{"a = [1 2]", "want a comma"},
		{"a = [,]", "want a value"},
		{"a = [1", "want a comma"},
		{"a = {b = 1,}", "want a key"},
		{"a = {b = 1\n}", "on the same line"},
		{"a = {b = 1, b = 2}", "given twice"},
		{"a = {b.c = 1, b = 2}", "given twice"},
		{"a = " + strings.Repeat("[", maxDepth+2), "nests too deeply"},
		{"a = " + strings.Repeat("{a=", maxDepth+2), "nests too deeply"},
		{strings.Repeat("a.", maxDepth+2) + "a = 1", "too many parts"},
		{"a = \"\xff\"", "not UTF-8"},
	}
	for _, tt := range tests {
		if _, _, err := parseTOML([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.in, err, tt.want)
		}
	}
}

// TestTOMLKnowsWhereThingsStand: the bytes of each statement are its own.
func TestTOMLKnowsWhereThingsStand(t *testing.T) {
	const src = "a = 1 # one\n\n[b.c] # two\nd.e = \"\"\"\nx\"\"\"\nf = [\n 1 ] # three\n"
	want := []string{"a = 1", "[b.c]", "d.e = \"\"\"\nx\"\"\"", "f = [\n 1 ]"}
	paths := []string{"a", "b c", "b c d e", "b c f"}
	_, statements, err := parseTOML([]byte(src))
	if err != nil || len(statements) != len(want) {
		t.Fatalf("%v, %v", statements, err)
	}
	for i, s := range statements {
		if got := src[s.start:s.end]; got != want[i] || strings.Join(s.path, " ") != paths[i] {
			t.Errorf("statement %d is %q at %v, want %q at %s", i, got, s.path, want[i], paths[i])
		}
	}
}
