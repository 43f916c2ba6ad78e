package config

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReadValue(t *testing.T) {
	v, problems := ReadValue("x.yaml", []byte("a: 1\nb:\n  - x\n  - true\n  - 2020-01-02\nc: {d: null, e: \"1\"}\nf: &f [0x1f, 1_000, .5, 1e3, +3, 0o17, .inf]\ng: *f\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := `{"a":1,"b":["x",true,"2020-01-02"],"c":{"d":null,"e":"1"},"f":[31,1000,0.5,1e3,3,15,".inf"],"g":[31,1000,0.5,1e3,3,15,".inf"]}`
	if got := string(v.JSON()); got != want {
		t.Errorf("%s", got)
	}
	b, ok := v.Member("b")
	if !ok || b.Kind != List || b.Line != 3 || b.Items[1].Line != 4 || b.Items[1].Kind != Truth || b.Kind.String() != "a list" {
		t.Errorf("%+v", b)
	}
	if _, ok := v.Member("z"); ok {
		t.Error("there is a z")
	}
	if v, problems := ReadValue("x.yaml", []byte("# nothing\n")); v.Kind != Nothing || len(problems) > 0 || string(v.JSON()) != "null" {
		t.Errorf("%+v, %v", v, problems)
	}
}

func TestReadValueProblems(t *testing.T) {
	for text, says := range map[string]string{
		"a: [1\n":                   "not valid YAML",
		"a: 1\na: 2\n":              "already set in line 1",
		"? [x]\n: 1\n":              "expected a name",
		"a: !!binary aGVsbG8=\n":    "cannot be read",
		"a: !thing {b: 1}\n":        "cannot be read",
		"a: &a [*a]\n":              "deeper than",
		"<<: {a: 1}\n":              "expected a name",
		"a: 1\n---\nb: 2\n":         "second document",
		"a: \xff\n":                 "UTF-8",
		strings.Repeat("- [", 3000): "",
	} {
		if _, problems := ReadValue("x.yaml", []byte(text)); len(problems) == 0 || !strings.Contains(problems[0].Message, says) {
			t.Errorf("%.40q: %v", text, problems)
		}
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",") + "]\n"
	}
	if _, problems := ReadValue("x.yaml", []byte(bomb)); len(problems) != 1 || !strings.Contains(problems[0].Message, "more than 10000 values") {
		t.Errorf("%v", problems)
	}
}

func FuzzReadValue(f *testing.F) {
	f.Add([]byte("a: 1\nb: [x, {c: ~}]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("- .nan\n- 0b1\n- !!str 1\n- |\n  x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, problems := ReadValue("f", data)
		if text := v.JSON(); !json.Valid(text) && len(problems) == 0 {
			t.Errorf("%q became %s", data, text)
		}
	})
}
