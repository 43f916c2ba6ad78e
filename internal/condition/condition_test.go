package condition

import (
	"strings"
	"testing"
)

// TestRefusals: what, where, and what to write.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "column 1: there should be a value and not the end",
		"args.x = 1":                     "column 8: '=' means nothing here; write == to compare",
		"true & false":                   "column 6: '&' means nothing here; write &&",
		"true; false":                    "column 5: ';' means nothing here",
		"true false":                     `column 6: "false" is too much`,
		"(true":                          `column 6: there should be ")" and not the end`,
		"args.":                          "column 6: there should be a name behind the dot and not the end",
		"args.in == 1":                   `column 6: there should be a name behind the dot and not "in"`,
		"tool == 'a":                     "column 9: the string does not end",
		"tool == 'a\nb'":                 "line 1, column 9: the string does not end on its line",
		"true &&\n\n tol == ''":          `line 3, column 2: there is no name "tol" here: did you mean tool?`,
		"'é' == é":                       "column 8: 'é' means nothing here",
		`tool == 'a\d'`:                  `column 11: this escape is not known: write \\ for a backslash`,
		"merge == tool":                  `column 1: there is no name "merge" here: there are args, box, caller, effects, path, tool, and a string stands in quotes`,
		"tool == 1":                      "column 6: string and int are never compared: write values of one type on both sides of ==",
		"args.n < [1]":                   "column 8: dyn and list(int) are never compared",
		"tool + 1 == ''":                 "column 6: + does not go with string and int",
		"tool && true":                   "column 1: && is for bools, and this is string",
		"args":                           "the expression gives map(string, dyn) and not a bool: compare it with something",
		"args.x":                         "the expression gives dyn and not a bool",
		"now() == 1":                     "column 1: there is no function now(): there are has, size",
		"tool.startswith('a')":           "column 6: there is no function startswith(): did you mean startsWith()?",
		"startsWith(tool, 'a')":          "column 1: startsWith() is written behind a dot",
		"tool.startsWith(1)":             "column 6: startsWith() does not take string and int",
		"has(args)":                      "column 1: has() asks for a field: write has(args.name)",
		"effects.all(x.y, true)":         "column 15: the first argument of all() is a new name",
		"effects.all(x)":                 "column 9: all() takes a name and an expression",
		"effects.all(x, x)":              "column 16: all() needs a bool, and this is string",
		"tool.all(x, true)":              "column 1: all() goes over lists and maps, and this is string",
		"tool.x == 1":                    `column 6: string has no fields, so it has no "x"`,
		"tool.matches('(')":              "column 14: the pattern is no regular expression of RE2",
		"int('x') == 1":                  "column 1: int() cannot read the string x",
		"for == 1":                       `column 1: "for" is a reserved word`,
		"9223372036854775808 == 1":       "column 1: the number 9223372036854775808 is too large for an int: write 9223372036854775808u",
		"1e999 == 1.0":                   "column 1: the number 1e999 is too large",
		"true ? true ? true : false : 1": "column 13: put a choice within a choice into parentheses",
		"args.?x == 1":                   "column 6: optional values are left out: ask with has() first",
		"b'a' == b'a'":                   "column 1: bytes are left out: write a string",
		"timestamp(tool) == 1":           "column 1: times are left out: compare them as strings",
		"type(tool) == string":           "types as values are left out",
		"matches(tool, 'a')":             "column 1: matches() before a text is left out: write args.name.matches('pattern')",
		"args{} == 1":                    "column 5: messages are left out",
		"args['a'":                       `column 9: there should be "]" and not the end`,
		"args.`é` == 1":                  "column 6: between backquotes are letters",
		"args.a[null] == 1":              "column 8: null, a list or a map between brackets finds nothing",
		strings.Repeat(" ", maxText+1):   "the expression has 4097 bytes; at most 4096 are allowed",
		"tool == '\xff'":                 "text that is not valid UTF-8 is left out",
	} {
		if _, err := Compile(text, testNames()); err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), ": "+want) {
			t.Errorf("%.40q\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestNoValue: an evaluation that fails says why, and where.
func TestNoValue(t *testing.T) {
	for text, want := range map[string]string{
		"args.none == 1":                    `column 6: there is no "none"; ask with has() first`,
		"args.s.none == 1":                  `column 8: string has no fields, so it has no "none"`,
		"args.m.none == 1":                  `column 8: there is no "none"`,
		"args.m['x'] == 1":                  "column 7: there is no [x]; ask with in first",
		"args.l[2] == 1":                    "column 7: the list has no [2]; ask with size() first",
		"args.n + 1.5 == 2.5":               "column 8: + does not go with int and double",
		"args.n / 0 == 1":                   "column 8: the result of / is too large, or a division by zero",
		"9223372036854775807 + args.n == 1": "column 21: the result of + is too large",
		"args.s && true":                    "column 1: && does not go with string",
		"args.s < 1":                        "column 8: < does not go with string and int",
		"int(args.s) == 1":                  "column 1: int() cannot read the string ...",
		"args.s.matches(args.bad)":          "column 8: the pattern is no regular expression of RE2",
		"args.l + args.m == 1":              "column 8: + does not go with list and map",
		"args.m[args.s] == 1":               "column 7: there is no [...]; ask with in first",
		"args.n.all(x, true)":               "column 8: all does not go with int",
	} {
		program, err := Compile(text, testNames())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		values := map[string]any{"args": map[string]any{"n": int64(1), "s": "text", "l": []any{int64(1)}, "m": map[string]any{}, "bad": "("}}
		if _, err := program.Holds(values, 1000); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	env := newJudge(b)
	for name, text := range benchmarked() {
		b.Run(name+"/here", func(b *testing.B) {
			for b.Loop() {
				if _, err := Compile(text, testNames()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/cel-go", func(b *testing.B) {
			for b.Loop() {
				if _, err := judged(env, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchmarked() map[string]string {
	return map[string]string{
		"compare": "args.n > 2 && tool == 'merge'",
		"text":    `!args.to.endsWith("@example.com") && !args.to.contains("..")`,
		"pattern": `args.path.matches('^src/.*\\.go$')`,
		"in":      `'writes' in effects && caller.agent in ['bot', 'ann', 'eve']`,
		"loop":    `args.list.exists(x, x.name == 'b' && x.size > 10)`,
	}
}

func BenchmarkEvaluate(b *testing.B) {
	env := newJudge(b)
	values, _ := testValues(`{"n":3,"to":"eve@evil.example","path":"src/a/b.go","list":[{"name":"a","size":1},{"name":"b","size":2},{"name":"b","size":20}]}`)
	for name, text := range benchmarked() {
		ours, err := Compile(text, testNames())
		if err != nil {
			b.Fatal(err)
		}
		theirs, err := judged(env, text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/here", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := ours.Holds(values, 200_000); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
		b.Run(name+"/cel-go", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if word, detail := judgedHolds(theirs, values); word != "true" {
					b.Fatal(detail)
				}
			}
		})
	}
}
