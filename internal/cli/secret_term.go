package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"

	"github.com/toolcrib/toolcrib"
)

// isTerminal reports whether somebody can type into a file. A device such as
// /dev/null is none.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// maxStdin is more than a secret may have: the vault says how much that is.
const maxStdin = 2 << 20

// value takes the value of a secret from the person or from a pipe, and says
// whether a newline was cut off.
func (c *command) value(ctx context.Context, name string) (value string, cut bool, err error) {
	if in, ok := c.in.(*os.File); ok && isTerminal(in) {
		value, err = c.hidden(ctx, in, c.err, "Value of "+name+", which is not shown: ")
		return value, false, err
	}
	text, err := waited(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(c.in, maxStdin)) })
	if err != nil {
		return "", false, notRead("standard input", err)
	}
	value, cut = strings.CutSuffix(string(text), "\n")
	if cut {
		value = strings.TrimSuffix(value, "\r")
	}
	if value == "" {
		return "", false, usagef("there is no value on standard input: pipe one in, or type it at a terminal")
	}
	return value, cut, nil
}

// hiddenLine asks at the terminal that this process belongs to, wherever its
// streams lead.
func (c *command) hiddenLine(ctx context.Context, question string) (string, error) {
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONIN$"
	}
	tty, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", errors.New("there is no terminal to ask for it")
	}
	defer tty.Close() //nolint:errcheck // what was typed there is here
	out := io.Writer(tty)
	if runtime.GOOS == "windows" {
		out = c.err // one cannot write to what is read from there
	}
	return c.hidden(ctx, tty, out, question)
}

// hidden asks for a line that is not shown while it is typed.
func (c *command) hidden(ctx context.Context, in *os.File, out io.Writer, question string) (string, error) {
	c.hush()
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", notRead("the terminal", err)
	}
	if _, err := io.WriteString(out, question); err != nil {
		return "", notRead("the terminal", err)
	}
	line, err := waited(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	if ctx.Err() != nil { // the reading goes on, and would leave the terminal blind
		err = errors.Join(ctx.Err(), term.Restore(fd, before))
	}
	_, nerr := fmt.Fprintln(out) // the end of the line was not shown either
	if err = errors.Join(err, nerr); err != nil {
		return "", notRead("the terminal", err)
	}
	return string(line), nil
}

// waited reads something without end until ctx ends.
func waited(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		// Who interrupts a pipe ends what writes to it too: half a value is none.
		return a.text, errors.Join(a.err, ctx.Err())
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func notRead(what string, err error) error {
	code := toolcrib.CodeUnavailable
	if errors.Is(err, context.Canceled) {
		code = toolcrib.CodeTimeout
	}
	return &toolcrib.Error{Code: code, Message: "reading " + what + ": " + err.Error(), Err: err}
}
