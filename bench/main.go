// Command bench runs the Go benchmarks that have a target, compares each with
// it, and writes bench/out/report.md and bench/out/report.json.
//
//	go run ./bench                      all rows
//	go run ./bench -rows Call -count 5  rows whose benchmark matches, median of five
//	go run ./bench -strict              exit status 1 if a target is missed
//
// The rows are the table in rows.go: who adds a benchmark with a promise adds a
// line there. A target is a number, or a ratio to a peer measured in the same
// run, which says more on a machine that is busy or slow.
//
// Nothing imports this package and it imports nothing of ours. Its invariant: a
// row whose benchmark did not run is reported as missing and never as met.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	pattern := flags.String("rows", "", "only rows whose benchmark matches this regular expression")
	count := flags.Int("count", 3, "how often each benchmark runs; the median counts")
	benchtime := flags.String("benchtime", "500ms", "how long each run takes")
	out := flags.String("out", filepath.Join("bench", "out"), "where the reports go")
	strict := flags.Bool("strict", false, "fail if a target is missed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	only, err := regexp.Compile(*pattern)
	if err != nil {
		return fmt.Errorf("-rows: %w", err)
	}
	rows := slices.DeleteFunc(table(), func(r row) bool { return !only.MatchString(r.Bench) })
	if len(rows) == 0 {
		return errors.New("no row matches -rows")
	}
	rep := report{Machine: machine(), Time: time.Now().UTC().Truncate(time.Second)}
	for _, pkg := range packages(rows) {
		text, err := goTest(ctx, pkg, benchesOf(rows, pkg), *count, *benchtime, stdout)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // its rows will be missing; the others still count
			fmt.Fprintf(stdout, "the benchmarks of %s: %v\n", pkg, err)
		}
		got, cpu := parse(text)
		rep.Machine.CPU = cmp.Or(cpu, rep.Machine.CPU)
		for _, r := range rows {
			if r.Pkg == pkg {
				rep.Rows = append(rep.Rows, r.judge(got))
			}
		}
	}
	if err := rep.write(*out); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n%s\nwritten to %s\n", rep.markdown(), *out)
	return rep.failure(*strict)
}

// goTest runs some benchmarks of a package and passes what it prints through.
func goTest(ctx context.Context, pkg string, benches []string, count int, benchtime string, stdout io.Writer) (string, error) {
	var text strings.Builder
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark("+strings.Join(benches, "|")+")$",
		"-benchmem", "-count", fmt.Sprint(count), "-benchtime", benchtime, "-timeout", "30m", pkg)
	cmd.Stdout = io.MultiWriter(&text, stdout)
	cmd.Stderr = os.Stderr
	err := cmd.Run()
	return text.String(), err
}

// packages lists the packages of the rows, each once, in the order of the table.
func packages(rows []row) []string {
	var out []string
	for _, r := range rows {
		if !slices.Contains(out, r.Pkg) {
			out = append(out, r.Pkg)
		}
	}
	return out
}

// benchesOf lists the top-level benchmarks that the rows of a package need.
func benchesOf(rows []row, pkg string) []string {
	var out []string
	for _, r := range rows {
		if r.Pkg != pkg {
			continue
		}
		for _, name := range []string{r.Bench, r.Peer} {
			top, _, _ := strings.Cut(name, "/")
			if top != "" && !slices.Contains(out, top) {
				out = append(out, regexp.QuoteMeta(top))
			}
		}
	}
	return out
}
