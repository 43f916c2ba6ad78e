package jq

import (
	"strings"
	"testing"
	"time"
)

func TestSelect(t *testing.T) {
	const doc = `{"items":[{"name":"a","n":1,"big":12345678901234567890,"tags":["x","y"]},{"name":"b","n":2,"tags":[]}],"next":null}`
	for expression, want := range map[string]string{
		".items[].name":                          `["a","b"]`,
		".items[0].big":                          `12345678901234567890`,
		"[.items[]|{name,n}]":                    `[{"n":1,"name":"a"},{"n":2,"name":"b"}]`,
		".items|map(select(.n>1))|length":        `1`,
		".items[]|select(.name==\"z\")":          `null`,
		`.items|map("\(.name)=\(.n)")|join(",")`: `"a=1,b=2"`,
		".items|group_by(.n)|map(.[0].name)":     `["a","b"]`,
		"[..|strings]|unique":                    `["a","b","x","y"]`,
		".items as [$a]|$a.name":                 `"a"`,
		"if .next then 1 else 2 end":             `2`,
		"[limit(1;.items[])]|.[0].tags":          `["x","y"]`,
		"[.items[]|.name?]|first":                `"a"`,
	} {
		q, err := Parse(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		got, err := q.Run(t.Context(), []byte(doc), Limits{Bytes: 1 << 20})
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", expression, got, err, want)
		}
	}
}

// What reaches beyond the value, loops or grows without measure is not in the language.
func TestRefused(t *testing.T) {
	for _, expression := range []string{
		"env", "$ENV", "$ENV.PATH", "input", "inputs", "input_filename", "now", "halt", "debug", "[range(1e9)]", "[repeat(1)]", "def f: f; f", "def f: .; f",
		`"x" * 1000000000`, ".[500000000] = 1", ".a |= 1", ".a += 1", "setpath([1e8];1)", "[recurse(.)]", "until(false;.)", "[while(true;.)]", "reduce .[] as $x (0;.)",
		"foreach .[] as $x (0;.)", "label $f | 1", "[combinations]", "@base32d | env", "{a: env}", "[.[env]]", ".a as [$x, {b: $y}] | env", `"\(env)"`, `{"\(env)":1}`,
		"try env catch .", "if env then 1 end", ".[1:env]", "-(env)", "map(env)", "import \"a\" as a; .", strings.Repeat(".a|", 900) + ".", "[implode]",
		strings.Repeat("[.[],.[]]|", 60) + ".", "limit(1;env)", ".[", "", "getpath([]) | env", "modulemeta", "get_search_list", "ltrimstr(env)", "$__loc__ | input", "error(env)", "splits(env)",
	} {
		if expression == "" {
			continue
		}
		if _, err := Parse(expression); err == nil {
			t.Errorf("%.60s was accepted", expression)
		}
	}
}

func TestBounds(t *testing.T) {
	small := "[" + strings.TrimSuffix(strings.Repeat(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",`, 2000), ",") + "]"
	for _, expression := range []string{
		strings.Repeat("[.[],.[]]|", 20) + "length",
		strings.TrimSuffix(strings.Repeat("tojson|.+.|", 16), "|"),
		"[.[] as $a | .[] as $b | .[] as $c | $a]|length",
	} {
		q, err := Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := q.Run(t.Context(), []byte(small), Limits{Bytes: 1 << 20, Time: 300 * time.Millisecond}); err == nil {
			t.Errorf("%.40s gave %.40s", expression, got)
		}
	}
	q, err := Parse(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Run(t.Context(), []byte(small), Limits{Bytes: 100}); err == nil {
		t.Error("a result over the limit was given")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{".a[0].b", "[.[]|{a,b:.c}]", `"\(.a)"`, "..|.a?", ".[1:2]", "$ENV", "if .a then .b else .c end", "{(.a):1}", "@csv", ".a as {b:$c}|$c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if q, err := Parse(expression); err == nil && len(expression) < 60 {
			_, _ = q.Run(t.Context(), []byte(`{"a":[1,{"b":"c"}],"d":null}`), Limits{Bytes: 1 << 16})
		}
	})
}
