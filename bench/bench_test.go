package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const output = `goos: linux
cpu: Some Processor @ 3 GHz
BenchmarkCall-8          	  100	      9000 ns/op	  2950 B/op	      34 allocs/op
BenchmarkCall-8          	  100	      7000 ns/op	  2950 B/op	      34 allocs/op
BenchmarkCall-8          	  100	     50000 ns/op	  2950 B/op	      34 allocs/op
BenchmarkTools/10-8      	  100	       200 ns/op	        20.0 ns/tool
BenchmarkTools/10000-8   	  100	    300000 ns/op	        30.0 ns/tool
BenchmarkRate            	  100	       100 ns/op	     15000 calls/s
--- BENCH: BenchmarkNoise-8
    x_test.go:1: BenchmarkFake 1 2 ns/op
PASS
`

func TestJudge(t *testing.T) {
	got, cpu := parse(output)
	if cpu != "Some Processor @ 3 GHz" {
		t.Errorf("cpu %q", cpu)
	}
	for _, c := range []struct {
		row     row
		value   float64
		verdict verdict
	}{
		{row{Bench: "Call", Metric: "ns/op", AtMost: 9000}, 9000, met}, // the median, not the mean
		{row{Bench: "Call", Metric: "ns/op", AtMost: 8999}, 9000, missed},
		{row{Bench: "Call", Metric: "calls/s", AtLeast: 1}, 0, missing},
		{row{Bench: "Gone", Metric: "ns/op", AtMost: 1e9}, 0, missing},
		{row{Bench: "Fake", Metric: "ns/op", AtMost: 1e9}, 0, missing},
		{row{Bench: "Rate", Metric: "calls/s", AtLeast: 15_000}, 15_000, met},
		{row{Bench: "Rate", Metric: "calls/s", AtLeast: 15_001}, 15_000, missed},
		{row{Bench: "Tools/10000", Peer: "Tools/10", Metric: "ns/tool", AtMost: 1.5}, 30, met},
		{row{Bench: "Tools/10000", Peer: "Tools/10", Metric: "ns/tool", AtMost: 1.4}, 30, missed},
		{row{Bench: "Tools/10000", Peer: "Tools/11", Metric: "ns/tool", AtMost: 9}, 30, missing},
		{row{Bench: "Call", Metric: "ns/op"}, 9000, missed}, // no target is no promise kept
	} {
		res := c.row.judge(got)
		if res.Value != c.value || res.Verdict != c.verdict {
			t.Errorf("%+v: %v %s, want %v %s", c.row, res.Value, res.Verdict, c.value, c.verdict)
		}
	}
}

func TestReport(t *testing.T) {
	got, _ := parse(output)
	r := report{Rows: []result{
		row{Name: "calls", Bench: "Call", Metric: "ns/op", AtMost: 10_000}.judge(got),
		row{Name: "tools", Bench: "Tools/10000", Peer: "Tools/10", Metric: "ns/tool", AtMost: 1.3}.judge(got),
	}}
	text := r.markdown()
	for _, want := range []string{
		"| calls (`Call`) | 9 µs/op | 34 | at most 10 µs/op | met |",
		"| tools (`Tools/10000`) | 1.50 × (30 ns/tool, peer 20 ns/tool) | 0 | at most 1.3 × Tools/10 | missed |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no line %s:\n%s", want, text)
		}
	}
	if err := r.failure(false); err != nil {
		t.Errorf("a missed target failed: %v", err)
	}
	if err := r.failure(true); err == nil || !strings.Contains(err.Error(), "Tools/10000 is missed") {
		t.Errorf("strict: %v", err)
	}
	r.Rows = append(r.Rows, row{Bench: "Gone", Metric: "ns/op", AtMost: 1}.judge(got))
	if err := r.failure(false); err == nil {
		t.Error("a benchmark that did not run passed")
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.md", "report.json"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

func TestBenchesOf(t *testing.T) {
	rows := []row{{Pkg: "a", Bench: "X/1", Peer: "X/2"}, {Pkg: "a", Bench: "Y"}, {Pkg: "b", Bench: "Z"}}
	if diff := cmp.Diff([]string{"X", "Y"}, benchesOf(rows, "a")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, packages(rows)); diff != "" {
		t.Error(diff)
	}
}

// TestRowsNameBenchmarks: every row names a benchmark that is there, so that a
// renamed one is noticed here and not in the next report.
func TestRowsNameBenchmarks(t *testing.T) {
	for _, r := range table() {
		if (r.AtMost > 0) == (r.AtLeast > 0) {
			t.Errorf("row %q wants exactly one target", r.Name)
		}
		have := benchmarksIn(t, filepath.Join("..", r.Pkg))
		for _, name := range []string{r.Bench, r.Peer} {
			top, _, _ := strings.Cut(name, "/")
			if top != "" && !have["Benchmark"+top] {
				t.Errorf("row %q: there is no Benchmark%s in %s", r.Name, top, r.Pkg)
			}
		}
	}
}

func benchmarksIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

func FuzzParse(f *testing.F) {
	f.Add(output)
	f.Add("BenchmarkX-2 1 NaN ns/op 1e999 B/op\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := parse(text)
		for name := range got {
			for metric := range got[name] {
				if _, ok := got.median(name, metric); !ok {
					t.Errorf("%s has the metric %s without a value", name, metric)
				}
			}
		}
	})
}
