package examples_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/cli"
)

// TestMain lets this test program be toolcrib when it is called by that name,
// so that the pages are played with the code under test and nothing is built.
func TestMain(m *testing.M) {
	app.Shim()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	if filepath.Base(os.Args[0]) == "toolcrib" {
		os.Exit(cli.Main())
	}
	os.Exit(m.Run())
}

// TestConsole plays every console block of the pages: the lines behind "$ "
// are run by a shell, one after the other, and have to print what the page
// shows. Times, hashes, IDs and names of people differ from run to run and are
// not compared; "…" on the page stands for anything, and on a line of its own
// for any lines. With -update what differs is written into the page.
func TestConsole(t *testing.T) {
	played := 0
	for page, text := range pages(t) {
		var list []block
		for _, b := range blocks(page, text) {
			if b.lang == "console" {
				list = append(list, b)
			}
		}
		if len(list) == 0 {
			continue
		}
		played++
		t.Run(filepath.Base(page), func(t *testing.T) {
			s := newSession(t)
			lines := strings.Split(text, "\n")
			shift := 0 // how much longer the page has become so far
			for _, b := range list {
				got := s.play(t, b)
				from := b.line - 1 + shift
				lines = append(lines[:from:from], append(got, lines[from+len(b.lines):]...)...)
				shift += len(got) - len(b.lines)
			}
			if cribtest.Updating() {
				if err := os.WriteFile(filepath.Join("..", page), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if played == 0 {
		t.Error("no page has a console block")
	}
}

// session is one person's terminal.
type session struct {
	root    string // of the module: where the commands run
	env     []string
	address string // where the server of the page really listens
}

// shown is the address that the pages show; the tests take any free port.
const shown = "127.0.0.1:7717"

func newSession(t *testing.T) *session {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "toolcrib")); err != nil {
		t.Fatal(err)
	}
	person := filepath.Join(dir, "person") // pages write into files of clients, which are not those of whoever tests
	if err := os.Mkdir(person, 0o755); err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "TOOLCRIB_") || strings.HasPrefix(e, "XDG_") })
	return &session{root: root, env: append(append(env, goPlaces(t)...), "HOME="+person,
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"TOOLCRIB_HOME="+filepath.Join(dir, "home"), "TOOLCRIB_SERVE_LISTEN=127.0.0.1:0", "TOOLCRIB_BUS_LISTEN=127.0.0.1:0", "TMPDIR="+dir, "LC_ALL=C", "TZ=UTC")}
}

// goPlaces are where Go keeps what it has built and fetched, for a session with
// a home directory of its own.
func goPlaces(t *testing.T) (env []string) {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB", "GOFLAGS"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, value := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if value != "" {
			env = append(env, names[i]+"="+value)
		}
	}
	return env
}

// play runs the commands of a block and gives the block as it should be.
func (s *session) play(t *testing.T, b block) []string {
	t.Helper()
	var out []string
	for i := 0; i < len(b.lines); {
		command, ok := strings.CutPrefix(b.lines[i], "$ ")
		if !ok {
			t.Fatalf("%s: a console block begins with \"$ \" and a command, not with %q", b.at(), b.lines[i])
		}
		end := i + 1
		for end < len(b.lines) && !strings.HasPrefix(b.lines[end], "$ ") {
			end++
		}
		want := b.lines[i+1 : end]
		got := s.run(t, command)
		if !sameOutput(want, got) {
			if !cribtest.Updating() {
				t.Errorf("%s: $ %s\nprints\n%s\nand the page shows\n%s", b.at(), command, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			want = got
		}
		out = append(append(out, b.lines[i]), want...)
		i = end
	}
	return out
}

// run gives what a command prints.
func (s *session) run(t *testing.T, command string) []string {
	t.Helper()
	var text string
	if url, ok := strings.CutPrefix(command, "curl -s "); ok {
		text = get(t, strings.Replace(url, shown, s.address, 1))
	} else if server, ok := strings.CutSuffix(command, " &"); ok {
		text = s.start(t, server)
	} else if strings.HasPrefix(command, "cd ") { // every command has a shell of its own
		s.root = strings.TrimSpace(s.shell(t, command+" && pwd"))
	} else {
		text = s.shell(t, command)
	}
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (s *session) shell(t *testing.T, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = s.root, s.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatalf("$ %s: %v", command, err)
	}
	return string(out)
}

// get is curl, which not every machine has.
func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// start begins a server and gives its first line.
func (s *session) start(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", "exec "+command)
	cmd.Dir, cmd.Env = s.root, s.env
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("$ %s &: %v", command, err)
		}
	})
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatalf("$ %s &: %v", command, err)
	}
	s.address = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).FindString(line)
	if strings.Contains(line, "/core") { // a bus: the page shows it where it usually is
		s.env = append(s.env, "TOOLCRIB_BUS_URL=ws://"+s.address+"/core")
		return strings.ReplaceAll(line, s.address, "127.0.0.1:8181")
	}
	return strings.ReplaceAll(line, s.address, shown)
}

// sameOutput compares what is the same in every run.
func sameOutput(want, got []string) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for _, line := range want {
		if line == "…" {
			pattern.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		line = regexp.QuoteMeta(steady(line))
		pattern.WriteString(strings.ReplaceAll(line, "…", `[^\n]*`) + "\n")
	}
	pattern.WriteString(`\z`)
	var text strings.Builder
	for _, line := range got {
		text.WriteString(steady(line) + "\n")
	}
	return regexp.MustCompile(pattern.String()).MatchString(text.String())
}

// steady puts a word in place of what differs from run to run.
func steady(line string) string {
	for _, r := range []struct{ pattern, word string }{
		{`[0-9a-f]{64}`, "HASH"},
		{`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`, "TIME"},
		{`"date":"\d{4}-\d\d-\d\d"`, "DATE"},
		{`"time":"\d\d:\d\d:\d\d"`, "HOUR"},
		{`\b\d+(\.\d+)?(µs|ms|s)\b`, "DURATION"},
		{`\S+ via `, "WHO via "},
		{`"version":"[^"]*"`, "VERSION"},
		{`\s+`, " "}, // columns are as wide as what stands in them
	} {
		line = regexp.MustCompile(r.pattern).ReplaceAllString(line, r.word)
	}
	return strings.TrimRight(line, " ")
}

func TestSameOutput(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"ok", "ok", true},
		{"ok", "bad", false},
		{"ok", "ok\nmore", false},
		{"ok\nmore", "ok", false},
		{"", "more", false},
		{"a … c", "a b c", true},
		{"a … c", "a b d", false},
		{"a\n…\nz", "a\nz", true},
		{"a\n…\nz", "a\nb\nc\nz", true},
		{"a\n…\nz", "a\nb", false},
		{"a.c", "abc", false},
		{"took 12µs", "took 1.5ms", true},
		{"took 12µs", "took long", false},
		{"ann via cli  x", "bob via cli x", true},
		{"ann via cli", "ann via mcp", false},
		{"2026-01-01 12:00:00 done", "2027-02-03 01:02:03 done", true},
		{strings.Repeat("a1", 32) + " x", strings.Repeat("b2", 32) + " x", true},
		{strings.Repeat("a1", 32) + " x", fmt.Sprintf("%064x y", 1), false},
	} {
		split := func(s string) []string {
			if s == "" {
				return nil
			}
			return strings.Split(s, "\n")
		}
		if got := sameOutput(split(c.want), split(c.got)); got != c.same {
			t.Errorf("%q for %q: %v, want %v", c.got, c.want, got, c.same)
		}
	}
}
