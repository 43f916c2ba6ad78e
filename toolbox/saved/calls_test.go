package saved

import (
	"slices"
	"strings"
	"testing"
)

func TestReadCalls(t *testing.T) {
	for code, want := range map[string]string{
		"tools.a()": "a", "tools . a ( )": "a", "tools/*x*/.a()": "a", "tools?.a?.()": "a", `tools["b-c"](1)`: "b-c", "tools?.['d']()": "d",
		"tools.a(tools.b(tools.c()))":           "a b c",
		"const {a, b} = tools":                  "+",
		"const t = tools":                       "+",
		"tools[name]()":                         "+",
		"tools['a' + 'b']()":                    "+",
		`tools["\x61"]()`:                       "+",
		"x.tools.a()":                           "",
		"mytools.a(); tools2.b(); $tools.c()":   "",
		"f({...tools})":                         "+",
		"// tools.a()\n/* tools.b() */ tools.c": "c",
		`"tools.a"; 'tools.b'; tools.c`:         "c",
		"`tools.a ${tools.b(`x${tools.c()}`)} https://x.test ${ {a: tools.d()}.a }`; tools.e()": "b c d e",
		"`a\\`tools.x`; tools.y()": "y",
		"":                         "",
		"tools":                    "+",
		"tools.":                   "+",
		"/* tools.a":               "",
		`'tools.a`:                 "a",
	} {
		got := readCalls(code)
		text := strings.Join(got.names, " ")
		if got.computed {
			text += "+"
		}
		if text != want {
			t.Errorf("%s: %q, want %q", code, text, want)
		}
	}
}

func FuzzReadCalls(f *testing.F) {
	for _, s := range []string{"tools.a()", "`${tools.b}`", "tools['x']", "/*", "`${`${", "tools?.[", "}`", "'\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		got := readCalls(code)
		if !slices.IsSorted(got.names) || slices.Contains(got.names, "") {
			t.Fatalf("%q", got.names)
		}
		for _, n := range got.names {
			if !strings.Contains(code, n) {
				t.Fatalf("%q is not in it", n)
			}
		}
	})
}
