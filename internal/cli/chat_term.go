package cli

import (
	"os"
	"runtime"

	"golang.org/x/term"
)

func windows() bool { return runtime.GOOS == "windows" }

// rawTerminal has keys come as they are typed, until restore.
func rawTerminal(in, out *os.File) (restore func(), err error) {
	unpaint, err := paintable(out)
	if err != nil {
		return nil, err
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		unpaint()
		return nil, err
	}
	return func() {
		_ = term.Restore(int(in.Fd()), was) // there is nothing else that could be done
		unpaint()
	}, nil
}

func terminalSize(out *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 80, 24
	}
	return columns, rows
}
