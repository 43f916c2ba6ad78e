// Command mutants changes one place of a package at a time, runs the tests, and
// prints the changes that no test notices:
//
//	go run ./.ci/mutants -n 6 -seed 1 ./internal/desk ./internal/store
//
// A change is a negated condition, a shifted or turned comparison, an error that
// is not returned, a call that is not made, a number that is off by one, or "and"
// for "or". The sample is chosen by the seed, so it can be drawn again. A survivor
// is a question to a person: is a test missing, or does the change mean the same?
//
// Nothing imports this package and it imports nothing of ours. Its invariant: the
// source is never touched. A mutant is a file elsewhere that "go test -overlay"
// reads instead, and its tests get a home and a place for files of their own.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	o := options{out: os.Stdout}
	flag.IntVar(&o.n, "n", 5, "how many mutants of each package are tried")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses the sample")
	flag.DurationVar(&o.timeout, "timeout", 0, "how long the tests of a mutant may take; 0: four times as long as without, and half a minute")
	also := flag.String("also", "", "further packages, with spaces between, whose tests are run on what survives its own")
	flag.Parse()
	o.also = strings.Fields(*also)
	err := o.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options say what is tried.
type options struct {
	n       int
	seed    uint64
	timeout time.Duration
	also    []string
	dir     string // of the module; empty: where we are
	out     io.Writer
}

// score counts the mutants of one package.
type score struct{ killed, survived, unbuilt int }

func (s score) String() string {
	if s.killed+s.survived == 0 {
		return "no mutant could be built"
	}
	return fmt.Sprintf("%d of %d killed (%d %%); %d more did not build", s.killed, s.killed+s.survived, 100*s.killed/(s.killed+s.survived), s.unbuilt)
}

// run tries a sample of every package and tells the survivors at the end.
func (o options) run(ctx context.Context, packages []string) error {
	if len(packages) == 0 || o.n < 1 {
		return fmt.Errorf("name at least one package, such as ./internal/desk, and at least one mutant")
	}
	var survivors []site
	var total score
	for _, pkg := range packages {
		s, left, err := o.sample(ctx, pkg)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.out, "%s: %s\n", pkg, s)
		survivors = append(survivors, left...)
		total.killed, total.survived, total.unbuilt = total.killed+s.killed, total.survived+s.survived, total.unbuilt+s.unbuilt
	}
	fmt.Fprintf(o.out, "\nin all: %s, seed %d\n", total, o.seed)
	for _, s := range survivors {
		fmt.Fprintln(o.out, "survived:", s)
	}
	return nil
}
