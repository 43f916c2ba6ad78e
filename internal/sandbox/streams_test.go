package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/text"
)

func openStreams(t *testing.T, cmd toolcrib.Cmd) *sandbox.Streams {
	t.Helper()
	s, err := sandbox.OpenStreams(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStreamsCarry(t *testing.T) {
	var out, errs bytes.Buffer
	s := openStreams(t, toolcrib.Cmd{Stdout: &out, Stderr: &errs, Stdin: strings.NewReader("in")})
	// The program's ends as a program would have them: copies of its own.
	stdin, stdout := dup(t, s.Stdin), dup(t, s.Stdout)
	if err := s.Started(); err != nil {
		t.Fatal(err)
	}
	in, err := io.ReadAll(stdin)
	if err != nil || string(in) != "in" {
		t.Errorf("the program read %q, error %v", in, err)
	}
	for range 1000 {
		if _, err := stdout.Write(bytes.Repeat([]byte("x"), 1000)); err != nil {
			t.Fatal(err)
		}
	}
	stdout.Close()
	if err := s.Drain(time.Second, nil); err != nil || out.Len() != 1_000_000 || errs.Len() != 0 {
		t.Errorf("%d and %d bytes, error %v", out.Len(), errs.Len(), err)
	}
}

// One that outlived the program holds the pipe: it is cut off, not waited for.
func TestStreamsAreCutOff(t *testing.T) {
	var out bytes.Buffer
	s := openStreams(t, toolcrib.Cmd{Stdout: &out})
	held := dup(t, s.Stdout)
	if err := s.Started(); err != nil {
		t.Fatal(err)
	}
	if _, err := held.WriteString("before"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.Drain(100*time.Millisecond, nil); err != nil || out.String() != "before" || time.Since(began) > 5*time.Second {
		t.Errorf("%q after %s, error %v", out.String(), time.Since(began), err)
	}
}

// slow takes its time, and stuck takes for ever.
type slow struct {
	n     int
	pause time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.pause)
	s.n += len(p)
	return len(p), nil
}

func TestSlowWriterIsWaitedFor(t *testing.T) {
	w := &slow{pause: 300 * time.Millisecond}
	s := openStreams(t, toolcrib.Cmd{Stdout: w})
	stdout := dup(t, s.Stdout)
	if err := s.Started(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.WriteString("slowly"); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	if err := s.Drain(50*time.Millisecond, nil); err != nil || w.n != 6 {
		t.Errorf("%d bytes, error %v", w.n, err)
	}
}

func TestStuckWriterIsGivenUp(t *testing.T) {
	w := &slow{pause: 3 * time.Second}
	s := openStreams(t, toolcrib.Cmd{Stdout: w})
	stdout := dup(t, s.Stdout)
	if err := s.Started(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if err := s.Drain(100*time.Millisecond, over.Done()); err == nil || time.Since(began) > 2*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestFailingWriterDoesNotBlock(t *testing.T) {
	want := errors.New("no room")
	s := openStreams(t, toolcrib.Cmd{Stdout: failing{want}})
	stdout := dup(t, s.Stdout)
	if err := s.Started(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := stdout.Write(make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	stdout.Close()
	if err := s.Drain(time.Second, nil); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

func TestAdmit(t *testing.T) {
	good := toolcrib.Cmd{Path: "/bin/true"}
	for _, c := range []struct {
		name  string
		cmd   toolcrib.Cmd
		grant toolcrib.Grant
		code  toolcrib.Code
	}{
		{"good", good, toolcrib.Grant{}, ""},
		{"good with all", toolcrib.Cmd{Path: "/a b", Dir: "/c", Args: []string{"", "\xff"}, Env: []string{"A=", "b c=d"}}, toolcrib.Grant{Dirs: []files.Dir{{Path: "/x"}}, Bounds: toolcrib.BoundTime}, ""},
		{"a bound too many", good, toolcrib.Grant{Bounds: toolcrib.BoundFiles}, toolcrib.CodeUnavailable},
		{"no path", toolcrib.Cmd{}, toolcrib.Grant{}, toolcrib.CodeInvalid},
		{"a relative path", toolcrib.Cmd{Path: "bin/true"}, toolcrib.Grant{}, toolcrib.CodeInvalid},
		{"a relative directory", toolcrib.Cmd{Path: "/bin/true", Dir: "x"}, toolcrib.Grant{}, toolcrib.CodeInvalid},
		{"NUL", toolcrib.Cmd{Path: "/bin/true\x00"}, toolcrib.Grant{}, toolcrib.CodeInvalid},
		{"no name", toolcrib.Cmd{Path: "/bin/true", Env: []string{"=x"}}, toolcrib.Grant{}, toolcrib.CodeInvalid},
		{"no value", toolcrib.Cmd{Path: "/bin/true", Env: []string{"x"}}, toolcrib.Grant{}, toolcrib.CodeInvalid},
		{"a grant up", good, toolcrib.Grant{Dirs: []files.Dir{{Path: "/a/../b"}}}, toolcrib.CodeInvalid},
		{"a relative grant", good, toolcrib.Grant{Dirs: []files.Dir{{Path: "a"}}}, toolcrib.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := sandbox.Admit(t.Context(), "test", toolcrib.BoundTime, c.cmd, c.grant); toolcrib.CodeOf(err) != c.code {
				t.Errorf("got %v, want %q", err, c.code)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sandbox.Admit(gone, "test", 0, good, toolcrib.Grant{}); toolcrib.CodeOf(err) != toolcrib.CodeTimeout || !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v", err)
	}
}

func TestWholeNetwork(t *testing.T) {
	for _, c := range []struct {
		hosts []string
		want  bool
		code  toolcrib.Code
	}{{nil, false, ""}, {[]string{"*"}, true, ""}, {[]string{"a", "*"}, true, ""}, {[]string{"a"}, false, toolcrib.CodeUnavailable}, {[]string{"*.a"}, false, toolcrib.CodeUnavailable}} {
		if got, err := sandbox.WholeNetwork("test", c.hosts); got != c.want || toolcrib.CodeOf(err) != c.code {
			t.Errorf("%q: %v, %v", c.hosts, got, err)
		}
	}
}

func TestOwner(t *testing.T) {
	if !sandbox.OwnerLives(sandbox.OwnerName()) {
		t.Error("this process does not live")
	}
	for _, dead := range []string{"999999999.1", "999999998.77"} {
		if sandbox.OwnerLives(dead) {
			t.Errorf("%s lives", dead)
		}
	}
	for _, strange := range []string{"", "x", "1x.2", "0.0"} {
		if !sandbox.OwnerLives(strange) {
			t.Errorf("%q was taken for a dead process of ours", strange)
		}
	}
}

func TestQuoteAndOctal(t *testing.T) {
	if got := text.ShellQuote("a'b $x"); got != `'a'\''b $x'` {
		t.Errorf("quoted %s", got)
	}
	if got := sandbox.Octal("A\x00\xff"); got != `\0101\0000\0377` {
		t.Errorf("octal %s", got)
	}
}
