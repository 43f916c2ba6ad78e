// Command tally reads the output of "go test -json", prints one line for each
// package and everything a failed test said, and ends with a count:
//
//	go test -json ./... | go run ./.ci/tally
//
// Its exit status is 1 if anything failed, if nothing ran at all, or, where the
// environment says CI=true, if a test was skipped: a machine that lacks
// something must not look like one where all is well.
//
// Where tests run in two parts, "tally -more FILE" keeps the count of the first
// and "tally -after FILE" adds it to the second, so that one count stands at the
// end.
//
// "tally -end-after 2m PROGRAM ARGS…" is for "go test -exec": it runs the tests of one
// package and ends them when they hang, with the names of the tests that do.
//
// Nothing imports this package and it imports nothing of ours. Its invariant:
// what it cannot read it prints and counts as a failure.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	t := tally{ci: os.Getenv("CI") == "true", out: os.Stdout}
	flag.StringVar(&t.more, "more", "", "keep the count in this file: more tests follow")
	flag.StringVar(&t.after, "after", "", "add the count that is kept in this file")
	silence := flag.Duration("end-after", 0, "run the tests in the arguments, and end them when they print and do nothing for this long")
	flag.Parse()
	if *silence > 0 && flag.NArg() > 0 {
		status, err := newWatch(*silence).run(flag.Arg(0), flag.Args()[1:]...)
		if err != nil {
			fmt.Fprintln(os.Stderr, "tally:", err)
		}
		os.Exit(status)
	}
	well, err := t.run(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
	}
	if err != nil || !well {
		os.Exit(1)
	}
}

// run reads, adds what was kept, and tells or keeps the count.
func (t *tally) run(in io.Reader) (well bool, err error) {
	if err := t.read(in); err != nil {
		return false, err
	}
	if !t.check() {
		t.count("")
		return false, nil
	}
	if t.after != "" {
		text, err := os.ReadFile(t.after)
		if err != nil {
			return false, err
		}
		var before kept
		if err := json.Unmarshal(text, &before); err != nil {
			return false, fmt.Errorf("%s: %w", t.after, err)
		}
		t.passed += before.Passed
		t.skipped = append(t.skipped, before.Skipped...)
	}
	if t.more == "" {
		t.count("")
		return true, nil
	}
	text, err := json.Marshal(kept{t.passed, t.skipped})
	if err != nil {
		return false, err
	}
	t.count("so far ")
	return true, os.WriteFile(t.more, text, 0o600)
}

// kept is what one run leaves for the next.
type kept struct {
	Passed  int      `json:"passed"`
	Skipped []string `json:"skipped"`
}

// event is a line of "go test -json"; see "go doc test2json".
type event struct {
	Action     string
	Package    string
	ImportPath string // of a package that is being built
	Test       string
	Output     string
	Elapsed    float64
}

type tally struct {
	ci          bool
	out         io.Writer
	more, after string // files, see above

	passed  int
	failed  []string
	skipped []string
	said    map[string][]string // package and test → its output
	broken  map[string]bool     // packages with a failed test
}

func (t *tally) read(in io.Reader) error {
	t.said, t.broken = map[string][]string{}, map[string]bool{}
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			t.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Fprint(t.out, line) // go itself complains in plain text
		t.failed = append(t.failed, "go test: "+strings.TrimSpace(line))
		return
	}
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "output":
		t.said[key] = append(t.said[key], e.Output)
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			t.test(e, key)
		} else {
			t.pkg(e, key)
		}
	}
}

func (t *tally) test(e event, key string) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "pass":
		t.passed++
	case "fail":
		t.failed = append(t.failed, name)
		t.broken[e.Package] = true
		fmt.Fprint(t.out, strings.Join(t.said[key], ""))
	case "skip":
		t.skipped = append(t.skipped, name+": "+skipReason(t.said[key]))
	}
	delete(t.said, key)
}

// pkg is told after all tests of a package. A package that fails without a
// failed test did not build, panicked or took too long.
func (t *tally) pkg(e event, key string) {
	switch e.Action {
	case "skip":
		fmt.Fprintf(t.out, "none  %s\n", e.Package)
	case "pass":
		fmt.Fprintf(t.out, "ok    %s %.1fs\n", e.Package, e.Elapsed)
	default:
		if !t.broken[e.Package] {
			before := len(t.failed)
			for k, said := range t.said { // a test that never ended
				if test, of := strings.CutPrefix(k, e.Package+"\x00"); of && test != "" {
					t.failed = append(t.failed, e.Package+" "+test+" (it did not end)")
					fmt.Fprint(t.out, strings.Join(said, ""))
				}
			}
			if len(t.failed) == before {
				t.failed = append(t.failed, e.Package)
			}
			fmt.Fprint(t.out, strings.Join(t.said[key], ""))
		}
		fmt.Fprintf(t.out, "FAIL  %s %.1fs\n", e.Package, e.Elapsed)
	}
	for k := range t.said {
		if strings.HasPrefix(k, e.Package+"\x00") {
			delete(t.said, k)
		}
	}
	delete(t.broken, e.Package) // the same package may be run again, in another way
}

func skipReason(said []string) string {
	for _, line := range said {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}

// check tells what is wrong and reports whether all is well.
func (t *tally) check() bool {
	for _, list := range []struct {
		word  string
		names []string
	}{{"failed", t.failed}, {"skipped", t.skipped}} {
		for _, name := range slices.SortedFunc(slices.Values(list.names), cmp.Compare) {
			fmt.Fprintf(t.out, "%s: %s\n", list.word, name)
		}
	}
	switch {
	case len(t.failed) > 0:
		return false
	case t.passed == 0:
		fmt.Fprintln(t.out, "no test ran")
		return false
	case t.ci && len(t.skipped) > 0:
		fmt.Fprintln(t.out, "CI=true: a skipped test counts as a failure")
		return false
	}
	return true
}

// count is the last line.
func (t *tally) count(before string) {
	fmt.Fprintf(t.out, "%s%d passed, %d failed, %d skipped\n", before, t.passed, len(t.failed), len(t.skipped))
}
