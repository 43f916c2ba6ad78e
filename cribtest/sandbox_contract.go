//go:build unix

package cribtest

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// decoded reads the words in which the attacker tells bytes.
func decoded(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		word, _, _ := strings.Cut(strings.TrimPrefix(s, "."), " ")
		text, err := base64.StdEncoding.DecodeString(word)
		if err != nil {
			text = []byte("not decodable: " + s)
		}
		out = append(out, string(text))
	}
	return out
}

// tellsExactly: arguments are bytes, the directory is the one asked for.
func tellsExactly(ctx context.Context, a *arena) []error {
	args := []string{"plain", "with blank", "", "-n", "--", "*", "$HOME", "`id`", "$(id)", "a\nb", "\xff\xfe", "é", "'\"\\", strings.Repeat("x", 100_000)}
	o, err := a.attack(ctx, "args", args...)
	if err != nil {
		return []error{err}
	}
	var faults []error
	if diff := cmp.Diff(args, decoded(o.lines("arg"))); diff != "" {
		faults = append(faults, fmt.Errorf("the arguments changed on the way (-want +got):\n%.2000s", diff))
	}
	if dir := o.lines("dir"); len(dir) != 1 || dir[0] != a.work+" <nil>" {
		faults = append(faults, fmt.Errorf("the program started in %q, want %q", dir, a.work))
	}
	return faults
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func leaksNoEnvironment(ctx context.Context, a *arena) []error {
	leak := "CRIBTEST_LEAK_" + strconv.Itoa(os.Getpid())
	if err := os.Setenv(leak, a.secret); err != nil {
		return []error{err}
	}
	defer func() { _ = os.Unsetenv(leak) }()
	var faults []error
	for _, env := range [][]string{{"HOME=" + a.home, "A=b=c", "EMPTY=", "ODD=\xff\n$x"}, {}, nil} {
		cmd := a.command("env")
		cmd.Env = env
		o, err := a.run(ctx, cmd, a.grant())
		if err != nil {
			return []error{unwrapped(err)}
		}
		got := decoded(o.lines("env"))
		if diff := cmp.Diff(sorted(append([]string{}, env...)), sorted(got)); diff != "" {
			faults = append(faults, fmt.Errorf("the environment is not exactly what was given (-given +found):\n%s", diff))
		}
	}
	return faults
}

// never is an input that says nothing and does not end.
type never struct{ until <-chan struct{} }

func (n never) Read([]byte) (int, error) {
	<-n.until
	return 0, io.EOF
}

func feedsInput(ctx context.Context, a *arena) []error {
	var faults []error
	until := make(chan struct{})
	// A sandbox that waits for its input shall be told so, not hang the suite.
	defer time.AfterFunc(10*time.Second, func() { close(until) }).Stop()
	text := strings.Repeat("some input\x00\xff\n", 20_000)
	for _, c := range []struct {
		name  string
		stdin io.Reader
		verb  string
		want  string
	}{
		{"closed", nil, "cat", ""},
		{"text", strings.NewReader(text), "cat", text},
		{"text that is not read", strings.NewReader(text), "exit", ""},
		{"an input that never ends", never{until}, "exit", ""},
	} {
		cmd := a.command(c.verb, "0")
		cmd.Stdin = c.stdin
		began := time.Now()
		o, err := a.run(ctx, cmd, a.grant())
		if err != nil || o.exit.Code != 0 {
			faults = append(faults, fmt.Errorf("input %s: %+v, error %s", c.name, o.exit, told(err)))
			continue
		}
		if c.verb == "cat" && !slices.Equal(decoded(o.lines("input")), []string{c.want}) {
			faults = append(faults, fmt.Errorf("input %s: the program read something else: %.100q", c.name, o.stdout))
		}
		if took := time.Since(began); took > 8*time.Second {
			faults = append(faults, fmt.Errorf("input %s: Run was held up for %s", c.name, took))
		}
	}
	return faults
}

func carriesOutput(ctx context.Context, a *arena) []error {
	var out, errs strings.Builder
	out.WriteString("attacker is here\n")
	for i := range 100 {
		fmt.Fprintln(&out, "out", i)
		fmt.Fprintln(&errs, "err", i)
	}
	out.WriteString("\x00\xff no newline at the end")
	var faults []error
	o, err := a.run(ctx, a.command("speak"), a.grant())
	if err != nil {
		return []error{unwrapped(err)}
	}
	if o.stdout != out.String() || o.stderr != errs.String() {
		faults = append(faults, fmt.Errorf("the output changed on the way: %d and %d bytes, want %d and %d", len(o.stdout), len(o.stderr), out.Len(), errs.Len()))
	}
	both := &bytes.Buffer{}
	cmd := a.command("speak")
	cmd.Stdout, cmd.Stderr = both, both
	if _, err := a.run(ctx, cmd, a.grant()); err != nil || both.Len() != out.Len()+errs.Len() {
		faults = append(faults, fmt.Errorf("one writer for both got %d bytes, want %d; error %s", both.Len(), out.Len()+errs.Len(), told(err)))
	}
	cmd.Stdout, cmd.Stderr = io.Discard, nil
	if exit, err := a.sandbox.Run(ctx, cmd, a.grant()); err != nil || exit.Code != 0 {
		faults = append(faults, fmt.Errorf("without a writer for errors: %+v, error %s", exit, told(err)))
	}
	return faults
}

func tellsExit(ctx context.Context, a *arena) []error {
	var faults []error
	for _, code := range []int{0, 1, 3, 126, 127, 255} {
		o, err := a.attack(ctx, "exit", strconv.Itoa(code))
		if err != nil || o.exit.Code != code || o.exit.Signal != "" || o.exit.TimedOut || o.exit.Duration <= 0 {
			faults = append(faults, fmt.Errorf("a program that ends with %d: %+v, error %s", code, o.exit, told(err)))
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGHUP} {
		o, err := a.attack(ctx, "signal", strconv.Itoa(int(sig)))
		if err != nil || o.exit.Code != 128+int(sig) || o.exit.TimedOut {
			faults = append(faults, fmt.Errorf("a program that dies of %v: %+v, error %s; want code %d", sig, o.exit, told(err), 128+int(sig)))
		}
	}
	return faults
}

// leaksNoDescriptor opens a file in a way that programs started by us inherit.
func leaksNoDescriptor(ctx context.Context, a *arena) []error {
	if runtime.GOOS != "linux" {
		return nil // there is no place to look them up
	}
	name := filepath.Join(a.outside, "file")
	fd, err := syscall.Open(name, syscall.O_RDONLY, 0)
	if err != nil {
		return []error{err}
	}
	defer func() { _ = syscall.Close(fd) }()
	o, err := a.attack(ctx, "fds")
	if err != nil {
		return []error{err}
	}
	var faults []error
	if len(o.lines("fd")) < 3 {
		faults = append(faults, fmt.Errorf("the descriptors could not be listed: %q", o.stdout))
	}
	for _, line := range o.lines("fd") {
		number, target, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(number); err == nil && n > 2 && (strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "/proc/") && target != "/sys/fs/cgroup" || strings.HasPrefix(target, "pipe:")) {
			faults = append(faults, fmt.Errorf("the program has descriptor %s, which is %s", number, target))
		}
	}
	return faults
}

func refusesNonsense(ctx context.Context, a *arena) []error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	good := a.command("exit", "0")
	with := func(change func(*toolcrib.Cmd)) toolcrib.Cmd {
		cmd := good
		change(&cmd)
		return cmd
	}
	var faults []error
	for _, c := range []struct {
		name string
		ctx  context.Context
		cmd  toolcrib.Cmd
	}{
		{"a program that is not there", ctx, with(func(c *toolcrib.Cmd) { c.Path = filepath.Join(a.work, "nothing") })},
		{"a program that is a directory", ctx, with(func(c *toolcrib.Cmd) { c.Path = a.work })},
		{"a program without its path", ctx, with(func(c *toolcrib.Cmd) { c.Path = "attacker" })},
		{"no program", ctx, with(func(c *toolcrib.Cmd) { c.Path = "" })},
		{"a directory that is not there", ctx, with(func(c *toolcrib.Cmd) { c.Dir = filepath.Join(a.work, "nothing") })},
		{"a relative directory", ctx, with(func(c *toolcrib.Cmd) { c.Dir = "work" })},
		{"a NUL in an argument", ctx, with(func(c *toolcrib.Cmd) { c.Args = []string{"exit", "0\x00"} })},
		{"a NUL in the environment", ctx, with(func(c *toolcrib.Cmd) { c.Env = []string{"A=\x00"} })},
		{"a variable without a value", ctx, with(func(c *toolcrib.Cmd) { c.Env = []string{"A"} })},
		{"a caller that has gone", gone, good},
	} {
		if o, err := a.run(c.ctx, c.cmd, a.grant()); err == nil {
			faults = append(faults, fmt.Errorf("%s was run: %+v", c.name, o.exit))
		} else if _, ok := toolcrib.AsError(err); !ok {
			faults = append(faults, fmt.Errorf("%s: the refusal has no code: %w", c.name, err))
		}
	}
	return faults
}

func refusesUnclaimed(ctx context.Context, a *arena) []error {
	const all = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundMemory | toolcrib.BoundProcesses | toolcrib.BoundTime
	var faults []error
	for _, missing := range []toolcrib.Bounds{all &^ a.sandbox.Enforces(), 1 << 15} {
		if missing == 0 {
			continue
		}
		grant := a.grant()
		grant.Bounds |= missing
		if o, err := a.run(ctx, a.command("exit", "0"), grant); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
			faults = append(faults, fmt.Errorf("bounds %#b were asked for, %#b are claimed, and it answered %+v, error %s; want unavailable",
				uint16(grant.Bounds), uint16(a.sandbox.Enforces()), o.exit, told(err)))
		}
	}
	return faults
}

// servesGrant: a sandbox in which nothing works would hold every bound.
func servesGrant(ctx context.Context, a *arena) []error {
	for name, text := range map[string]string{"existing": "existing", "removable": "x"} {
		if err := os.WriteFile(filepath.Join(a.work, name), []byte(text), 0o644); err != nil {
			return []error{err}
		}
	}
	o, err := a.attack(ctx, "serve", a.work, a.readonly)
	if err != nil {
		return []error{err}
	}
	var faults []error
	for _, line := range o.lines("refused") {
		faults = append(faults, fmt.Errorf("granted, but refused: %s", line))
	}
	if len(o.lines("did"))+len(o.lines("refused")) != 12 {
		faults = append(faults, fmt.Errorf("not everything was tried: %q", o.stdout))
	}
	for name, want := range map[string]string{"deep/er/moved": "made inside", "existing": "exi"} {
		if text, err := os.ReadFile(filepath.Join(a.work, name)); err != nil || string(text) != want {
			faults = append(faults, fmt.Errorf("what the program did to %s does not show outside: %q, error %s", name, text, told(err)))
		}
	}
	return faults
}
