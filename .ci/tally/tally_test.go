package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	const ok = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"pass","Package":"p","Elapsed":1.5}
`
	const skip = `{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: no database here\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
`
	for name, c := range map[string]struct {
		in   string
		ci   bool
		well bool
		want []string
		not  []string
	}{
		"all passed":       {in: ok, ci: true, well: true, want: []string{"ok    p 1.5s", "1 passed, 0 failed, 0 skipped"}, not: []string{"noise"}},
		"nothing ran":      {in: `{"Action":"skip","Package":"p"}` + "\n", want: []string{"none  p", "no test ran"}},
		"no input":         {in: "", want: []string{"0 passed", "no test ran"}},
		"skipped at home":  {in: ok + skip, well: true, want: []string{"skipped: p TestB: b_test.go:1: no database here", "1 passed, 0 failed, 1 skipped"}},
		"skipped in CI":    {in: ok + skip, ci: true, want: []string{"CI=true"}},
		"plain complaint":  {in: ok + "go: cannot find main module\n", want: []string{"go: cannot find main module", "1 failed"}},
		"last line unread": {in: ok + `{"Action":`, want: []string{"1 failed"}},
		"a failed test": {
			in: ok + `{"Action":"output","Package":"q","Test":"TestC","Output":"q_test.go:3: wrong\n"}
{"Action":"fail","Package":"q","Test":"TestC"}
{"Action":"output","Package":"q","Output":"FAIL\n"}
{"Action":"fail","Package":"q","Elapsed":0.1}
`, want: []string{"q_test.go:3: wrong", "FAIL  q", "failed: q TestC", "1 passed, 1 failed"},
		},
		"a panic": {
			in: ok + `{"Action":"run","Package":"q","Test":"TestD"}
{"Action":"output","Package":"q","Test":"TestD","Output":"panic: boo\n"}
{"Action":"output","Package":"q","Output":"FAIL\tq\n"}
{"Action":"fail","Package":"q","Elapsed":0.1}
`, want: []string{"panic: boo", "failed: q TestD (it did not end)\n", "1 passed, 1 failed"},
		},
		"a panic in the second run of a package": {
			in: `{"Action":"output","Package":"q","Test":"TestC","Output":"q_test.go:3: wrong\n"}
{"Action":"fail","Package":"q","Test":"TestC"}
{"Action":"fail","Package":"q","Elapsed":0.1}
{"Action":"run","Package":"q","Test":"TestD"}
{"Action":"output","Package":"q","Test":"TestD","Output":"panic: boo\n"}
{"Action":"fail","Package":"q","Elapsed":0.1}
`, want: []string{"q_test.go:3: wrong", "panic: boo", "failed: q TestC\n", "failed: q TestD (it did not end)\n"},
		},
		"a broken build": {
			in: ok + `{"ImportPath":"q","Action":"build-output","Output":"q.go:1: syntax error\n"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"fail","Package":"q","Elapsed":0,"FailedBuild":"q"}
`, want: []string{"q.go:1: syntax error", "failed: q\n", "1 passed, 1 failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			tl := tally{ci: c.ci, out: &out}
			if well, err := tl.run(strings.NewReader(c.in)); err != nil || well != c.well {
				t.Errorf("well is %v, want %v; %v", well, c.well, err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output has no %q:\n%s", want, out.String())
				}
			}
			for _, not := range c.not {
				if strings.Contains(out.String(), not) {
					t.Errorf("the output has %q:\n%s", not, out.String())
				}
			}
		})
	}
}

// Two runs end with one count, and one that fails is not followed by another.
func TestTwoParts(t *testing.T) {
	const (
		first  = `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"skip","Package":"p","Test":"TestB"}` + "\n"
		second = `{"Action":"pass","Package":"q","Test":"TestC"}` + "\n"
		bad    = `{"Action":"fail","Package":"q","Test":"TestC"}` + "\n"
	)
	file := filepath.Join(t.TempDir(), "tally")
	play := func(in string, tl tally) (string, bool) {
		t.Helper()
		var out strings.Builder
		tl.out = &out
		well, err := tl.run(strings.NewReader(in))
		return out.String(), well && err == nil
	}
	if out, well := play(second, tally{after: file}); well {
		t.Errorf("a first run that never ended well: %s", out)
	}
	if _, well := play(bad, tally{more: file}); well {
		t.Error("a failed test is well")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a failed run left a count")
	}
	if out, well := play(first, tally{more: file}); !well || !strings.Contains(out, "so far 1 passed, 0 failed, 1 skipped\n") {
		t.Errorf("%v %s", well, out)
	}
	if out, well := play(second, tally{after: file}); !well || !strings.HasSuffix(out, "\n2 passed, 0 failed, 1 skipped\n") && out != "2 passed, 0 failed, 1 skipped\n" {
		t.Errorf("%v %s", well, out)
	}
	if out, well := play(bad, tally{after: file}); well || !strings.Contains(out, "failed: q TestC") {
		t.Errorf("%v %s", well, out)
	}
}
