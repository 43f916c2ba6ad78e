package worker

import (
	"fmt"
	"os"
)

// Word is the argument by which a program is told to be a worker.
const Word = "script-worker"

// Shim makes this process a worker, if it was started to be one. It does not return
// then.
func Shim() {
	if len(os.Args) == 2 && os.Args[1] == Word {
		be(Limits{})
	}
}

// be is a worker until the process ends.
func be(limits Limits) {
	if err := bound(); err != nil {
		fmt.Fprintln(os.Stderr, "toolcrib script-worker:", err)
		os.Exit(1)
	}
	if err := Serve(os.Stdin, os.Stdout, limits); err != nil {
		fmt.Fprintln(os.Stderr, "toolcrib script-worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
