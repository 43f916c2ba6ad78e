package files

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/glob"
)

// The benchmarks stand beside ripgrep and fd where these are installed: each
// round runs both, one after the other, so that a busy machine slows both. The
// medians and their ratio are reported.

// benchTrees are the Go sources and a tree of 100,000 small files.
func benchTrees(b *testing.B) map[string]string {
	b.Helper()
	small := os.Getenv("TOOLCRIB_BENCH_TREE") // made before, to save the time
	if small == "" {
		small = b.TempDir()
		if err := makeTree(small, 100_000); err != nil {
			b.Fatal(err)
		}
	}
	root, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	return map[string]string{"go": filepath.Join(strings.TrimSpace(string(root)), "src"), "small": small}
}

func makeTree(dir string, n int) error {
	words := strings.Fields("the of and error func return handler server client request response context package value string buffer index table queue stream parse token config option default result status update delete insert select ServeHTTP")
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("d%02d", i/5000), fmt.Sprintf("s%02d", i/100%50))
		if i%100 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return err
			}
		}
		var text bytes.Buffer
		for text.Len() < 200+rnd.IntN(1800) {
			for range 3 + rnd.IntN(9) {
				w := words[rnd.IntN(len(words)-1)]
				if rnd.IntN(20_000) == 0 {
					w = words[len(words)-1]
				}
				text.WriteString(w + " ")
			}
			text.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%03d.txt", i%100)), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// query is one search as both sides know it.
type query struct {
	name    string // what rows of the bench report call it
	pattern string
	regex   bool
	fold    bool
}

// queries all have less than 10,000 matches, the most a call gives, so that
// both sides have to read everything.
func queries() []query {
	return []query{
		{"literal", "ServeHTTP", false, false},
		{"common", "return err", false, false},
		{"nothing", "Zxqwv_none", false, false},
		{"fold", "servehttp", false, true},
		{"foldcommon", "Handler default", false, true},
		{"regex", `func .*Handler\w*\(`, true, false},
		{"alternatives", `(Serve|Listen)(HTTP|TLS)`, true, false},
		{"foldregex", `err(or)?\s*:=\s*context`, true, true},
		{"noliteral", `[A-Z][a-z]+[0-9]{4,}`, true, false},
		{"words", `\b[xyz][0-9]{2}[a-f]\w*\b`, true, false},
		{"classes", `[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+`, true, false},
	}
}

func (q query) rg(dir string) []string {
	args := []string{"--no-ignore", "--hidden", "--no-config", "-n", "--no-heading", "--color=never", "--no-messages"}
	if !q.regex {
		args = append(args, "-F")
	}
	if q.fold {
		args = append(args, "-i")
	}
	return append(args, "-e", q.pattern, dir)
}

// search makes the call that does the same, and tells how much it found.
func (d *desk) search(tb testing.TB, dir string, q query) int {
	tb.Helper()
	value := d.value(tb, "search_files", map[string]any{"pattern": q.pattern, "path": dir, "regex": q.regex, "ignore_case": q.fold, "limit": 10_000})
	if !bytes.HasSuffix(value, []byte(`"truncated":false}`)) {
		tb.Fatalf("%s: there are more matches than a call gives", q.name)
	}
	return counted(tb, value)
}

// value makes a call and gives what came back as it is: to read it is the
// business of who called, as with the output of a program.
func (d *desk) value(tb testing.TB, tool string, in map[string]any) []byte {
	tb.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		tb.Fatal(err)
	}
	result, err := d.Call(tb.Context(), toolcrib.Call{Tool: tool, Input: input})
	if err != nil || result.Failed {
		tb.Fatalf("%s %v: %v, %v", tool, in, result, err)
	}
	return result.Value
}

// counted finds the count near the end of an answer.
func counted(tb testing.TB, value []byte) int {
	tb.Helper()
	var n int
	i := bytes.LastIndex(value, []byte(`"count":`))
	if _, err := fmt.Sscanf(string(value[i:]), `"count":%d`, &n); i < 0 || err != nil {
		tb.Fatalf("there is no count: %v", err)
	}
	return n
}

// benchDesk is a crib that was granted a tree for reading.
func benchDesk(tb testing.TB, dir string) *desk {
	tb.Helper()
	d := newDesk(tb, Config{MaxAnswer: math.MaxInt32})
	d.Grant = toolcrib.Grant{Dirs: []files.Dir{{Path: dir}}}
	d.Files = files.Options{Base: dir}
	d.Limits.Output = 1 << 30
	return d
}

// BenchmarkSearch is calls of search_files beside ripgrep.
func BenchmarkSearch(b *testing.B) {
	rg := program(b, "rg")
	trees := benchTrees(b)
	for _, q := range queries() {
		for _, tree := range []string{"go", "small"} {
			b.Run(q.name+"/"+tree, func(b *testing.B) {
				d := benchDesk(b, trees[tree])
				beside(b, func() int { return d.search(b, trees[tree], q) }, rg, q.rg(trees[tree])...)
			})
		}
	}
}

// BenchmarkList is calls of list_files beside fd.
func BenchmarkList(b *testing.B) {
	fd := program(b, "fdfind", "fd")
	trees := benchTrees(b)
	for _, tree := range []string{"go", "small"} {
		b.Run("recursive/"+tree, func(b *testing.B) {
			d := benchDesk(b, trees[tree])
			files, err := files.New(d.Grant.Dirs, d.Files)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { files.Close() })
			every, err := glob.Compile("*")
			if err != nil {
				b.Fatal(err)
			}
			ours := func() int {
				if tree == "go" {
					return counted(b, d.value(b, "list_files", map[string]any{"recursive": true, "limit": 100_000}))
				}
				// There are more entries here than a call gives.
				l := &lister{box: d.box, pattern: every, deep: true, limit: math.MaxInt, room: math.MaxInt}
				if err := files.Walk(b.Context(), ".", l.visit, l.emit); err != nil {
					b.Fatal(err)
				}
				return len(l.found)
			}
			beside(b, ours, fd, "--unrestricted", "--unrestricted", "--color=never", ".", trees[tree])
		})
	}
}

// BenchmarkReadFile is a call about one small file: what the handles and the
// protection cost.
func BenchmarkReadFile(b *testing.B) {
	d := newDesk(b, Config{})
	d.put(b, "dir/a.txt", strings.Repeat("a line of text\n", 100))
	for b.Loop() {
		d.value(b, "read_file", map[string]any{"path": "dir/a.txt"})
	}
}

// program finds the first of some programs, or nothing.
func program(b *testing.B, names ...string) string {
	b.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	b.Logf("%v is not installed: there is nothing to compare with", names)
	return ""
}

// beside runs ours and a program in turns, at least five times, and reports
// the medians and their ratio.
func beside(b *testing.B, ours func() int, program string, args ...string) {
	b.Helper()
	ours() // fill the caches
	var mine, theirs []float64
	n, lines := 0, 0
	round := func() {
		start := time.Now()
		n = ours()
		mine = append(mine, time.Since(start).Seconds()*1e3)
		if program == "" {
			return
		}
		start = time.Now()
		out, err := exec.CommandContext(context.Background(), program, args...).Output()
		theirs = append(theirs, time.Since(start).Seconds()*1e3)
		if err != nil && len(out) > 0 {
			b.Fatalf("%s: %v", program, err)
		}
		lines = bytes.Count(out, []byte{'\n'})
	}
	for b.Loop() {
		round()
	}
	for len(mine) < 5 {
		round()
	}
	b.ReportMetric(float64(n), "found")
	b.ReportMetric(median(mine), "ours-ms")
	if program == "" {
		return
	}
	if max(n, lines)-min(n, lines) > 1+max(n, lines)/100 {
		b.Fatalf("we find %d, %s %d: not the same work", n, program, lines)
	}
	b.ReportMetric(median(theirs), "theirs-ms")
	b.ReportMetric(median(mine)/median(theirs), "ratio")
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
