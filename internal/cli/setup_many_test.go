package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// desktop is a home directory with two clients.
type desktop struct {
	t             *testing.T
	home          string
	cursor, codex string
	before        map[string]string
}

// newDesktop makes one. Of the variables that servers may need, only those that the test has
// set are set.
func newDesktop(t *testing.T, cursor, codex string, set ...string) *desktop {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere") // there is no keyring
	for _, u := range app.UnpassedVariables(settings.Defaults()) {
		for _, name := range u.Names { // those of the machine that the test runs on
			if !slices.Contains(set, name) {
				t.Setenv(name, "")
			}
		}
	}
	d := &desktop{t: t, home: t.TempDir(), before: map[string]string{}}
	d.cursor, d.codex = filepath.Join(d.home, ".cursor", "mcp.json"), filepath.Join(d.home, ".codex", "config.toml")
	if err := os.Mkdir(filepath.Join(d.home, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{d.cursor: cursor, d.codex: codex} {
		if text == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d.before[file] = text
	}
	return d
}

func (d *desktop) environ() []string {
	return append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HOME=") }),
		"HOME="+d.home, "USERPROFILE="+d.home, "TOOLCRIB_HOME="+filepath.Join(d.home, "toolcrib"))
}

// run is a command of a person in their working directory. It gives what was printed to
// both streams.
func (d *desktop) run(args ...string) (out string, status int) {
	d.t.Helper()
	var both bytes.Buffer
	c := &command{in: io.NopCloser(strings.NewReader("")), out: &both, err: &both, dir: filepath.Join(d.home, "work"), environ: d.environ(),
		// They are waited for in vain however long it is.
		startLimit: map[string]time.Duration{"hangs": 300 * time.Millisecond, "nonsense": 5 * time.Second}}
	status = c.run(d.t.Context(), args)
	return both.String(), status
}

func (d *desktop) text(file string) string {
	d.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// unchanged reports what is not as it was before.
func (d *desktop) unchanged(when string) {
	d.t.Helper()
	for file, text := range d.before {
		if now := d.text(file); now != text {
			d.t.Errorf("%s: %s is not as it was:\n%s", when, file, now)
		}
	}
	if _, err := os.Stat(filepath.Join(d.home, "toolcrib", "config.yaml")); err == nil {
		d.t.Errorf("%s: the settings are left", when)
	}
}

// contains checks that a text has all of these, in one line or in several.
func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range all {
		if !strings.Contains(flat, want) {
			t.Errorf("not told: %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestSetupOfTwelveServersBehindAProxy: of twelve servers in the files of two clients six
// start, with the proxy and the certificates of the person, and are taken out; six do not,
// each in another way. Those stay as they are, the cause of each is told, and undoing gives
// back every byte.
func TestSetupOfTwelveServersBehindAProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://"+loopbackProxy(t, ""))
	certificates := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(certificates, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_EXTRA_CA_CERTS", certificates)
	failing := []string{
		`    "not-found": {"command": "no-such-mcp-program-here", "args": ["x"]},`,
		`    "ends": {"command": "needymcp", "args": ["ends"]}, // it worked last week`,
		`    "hangs": {"command": "needymcp", "args": ["hangs"]},`,
		`    "nonsense": {"command": "needymcp", "args": ["nonsense"]},`,
		`    "credentials": {"command": "needymcp", "args": ["proxy"], "env": {"API_TOKEN": "` + wrongToken + `"}},`,
		`    "own-proxy": {"command": "needymcp", "args": ["proxy"], "env": {"HTTP_PROXY": "http://127.0.0.1:1"}},`,
	}
	d := newDesktop(t, `{
  // mine
  "mcpServers": {
    "one": {"command": "fakemcp", "args": ["one"]},
    "two": {"command": "fakemcp", "args": ["two"]},
`+strings.Join(failing, "\n")+`
    "both": {"command": "fakemcp", "args": ["both"]},
    "proxied": {"command": "needymcp", "args": ["proxy"]},
  },
}
`, `model = "x" # mine
[mcp_servers.both]
command = "fakemcp"
args = ["both"]

[mcp_servers.certified]
command = "needymcp"
args = ["certificates"]

[mcp_servers.last]
command = "fakemcp"
args = ["last"]
`, "HTTP_PROXY", "NODE_EXTRA_CA_CERTS")
	out, status := d.run("setup", "--yes")
	if status != 0 {
		t.Fatalf("status %d\n%s", status, out)
	}
	contains(t, out,
		"with 13 MCP servers", "12 servers in ", "- proxy: HTTP_PROXY", "- ca: NODE_EXTRA_CA_CERTS", "Servers that work: 6 of 12",
		"6 servers did not start through Toolcrib:",
		`! not-found: the program "no-such-mcp-program-here" of the MCP server not-found was not found in PATH`,
		"! ends: its program ended with code 3 It wrote: | reading the settings | Error: cannot open settings.json Its entry is still in ~/.cursor/mcp.json",
		"! hangs: it did not answer within 300ms (mcp_servers.hangs.start_timeout)",
		"! nonsense: it did not answer within 5s (mcp_servers.nonsense.start_timeout); it wrote lines to its standard output that are not MCP messages It wrote: | Welcome to the server!",
		"! credentials: its program ended with code 1 It wrote: | ApiError: 401 Unauthorized for ",
		"! own-proxy: its program ended with code 1 It wrote: | Error: Get \"http://service.invalid/\"",
	)
	if strings.Contains(out, wrongToken) || strings.Contains(out, "No server in your own client files") || strings.Contains(out, "level=") {
		t.Errorf("it tells a token, a log line, or that nothing is round Toolcrib:\n%s", out)
	}
	if n := strings.Count(out, "Its entry is still in"); n != 6 {
		t.Errorf("of %d entries it is told that they are still there", n)
	}
	cursor, codex := d.text(d.cursor), d.text(d.codex)
	for _, line := range failing {
		if !strings.Contains(cursor, line+"\n") {
			t.Errorf("it lost %s\n%s", line, cursor)
		}
	}
	if strings.Contains(cursor, "fakemcp") || strings.Contains(cursor, "proxied") || strings.Contains(codex, "mcp\"\nargs = [\"") || !strings.Contains(codex, "# mine") {
		t.Errorf("servers that work are still there:\n%s\n%s", cursor, codex)
	}
	// They work through Toolcrib, and the others are told in one line.
	out, status = d.run("--set", "permissions.allow=both/*", "call", "both__echo", "text=hello")
	if status != 0 || !strings.Contains(out, "hello") {
		t.Errorf("status %d: %s", status, out)
	}
	if lines := strings.Count(out, "\n"); lines > 2 || !strings.Contains(out, "6 servers are down (credentials, ends, hangs, nonsense, not-found and 1 more): toolcrib doctor") {
		t.Errorf("in front of a command:\n%s", out)
	}
	d.secondTime(failing)
	if out, status := d.run("setup", "--undo"); status != 0 {
		t.Errorf("status %d: %s", status, out)
	}
	d.unchanged("undone")
}

// secondTime: what still fails stays, and nothing is done twice.
func (d *desktop) secondTime(failing []string) {
	d.t.Helper()
	out, status := d.run("setup", "--yes")
	cursor := d.text(d.cursor)
	for _, line := range failing {
		if !strings.Contains(cursor, line+"\n") {
			d.t.Errorf("the second time it lost %s", line)
		}
	}
	if status != 0 || !strings.Contains(out, "Nothing was changed.") || strings.Count(out, "Its entry is still in") != 6 {
		d.t.Errorf("the second time: status %d\n%s", status, out)
	}
}

// TestSetupDoesNotPassAPasswordUnasked: a proxy with a password in its address is passed to
// no server by --yes. What fails for it says so without the password, stays where it is, and
// goes when a person has passed it.
func TestSetupDoesNotPassAPasswordUnasked(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://me:hunter2secret@"+loopbackProxy(t, "me:hunter2secret"))
	d := newDesktop(t, `{"mcpServers": {"proxied": {"command": "needymcp", "args": ["proxy"]}, "one": {"command": "fakemcp"}}}`, "", "HTTP_PROXY")
	out, status := d.run("setup", "--yes")
	if status != 0 {
		t.Fatalf("status %d\n%s", status, out)
	}
	contains(t, out, "They contain a password", "Servers that work: 1 of 2", "! proxied: its program ended with code 1 It wrote: | Error: getaddrinfo ENOTFOUND service.invalid",
		`set here and not passed to servers: HTTP_PROXY; 'toolcrib config set hub.pass_env "[proxy]"' passes them`)
	if strings.Contains(out, "hunter2secret") || !strings.Contains(d.text(d.cursor), "needymcp") || strings.Contains(d.text(d.cursor), "fakemcp") {
		t.Errorf("%s\n%s", out, d.text(d.cursor))
	}
	out, _ = d.run("hub", "test", "proxied")
	contains(t, out, "not passed to servers: HTTP_PROXY")
	if strings.Count(out, "ENOTFOUND") != 1 || strings.Contains(out, "level=") {
		t.Errorf("the error is told more than once:\n%s", out)
	}
	if out, status := d.run("config", "set", "hub.pass_env", "[ca, proxy]"); status != 0 {
		t.Fatal(out)
	}
	if out, status = d.run("setup", "--yes"); status != 0 || strings.Contains(d.text(d.cursor), "needymcp") {
		t.Errorf("status %d\n%s", status, out)
	}
	if out, status := d.run("setup", "--undo"); status != 0 || !strings.Contains(d.text(d.cursor), "needymcp") {
		t.Errorf("status %d\n%s", status, out)
	}
}

// TestSetupKilledWhileServersStart: nothing is lost, and undoing gives back every byte.
func TestSetupKilledWhileServersStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a killed program leaves its children there")
	}
	mark := filepath.Join(t.TempDir(), "started")
	d := newDesktop(t, fmt.Sprintf(`{"mcpServers": {"one": {"command": "fakemcp"}, "slow": {"command": "needymcp", "args": ["hangs", %q]}}}`, mark), "")
	cmd := exec.Command("toolcrib", "setup", "--yes")
	cmd.Dir, cmd.Env = filepath.Join(d.home, "work"), d.environ()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(mark); err == nil || time.Now().After(limit) {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if d.text(d.cursor) != d.before[d.cursor] {
		t.Errorf("killed: %s", d.text(d.cursor))
	}
	if out, status := d.run("setup", "--undo"); status != 0 {
		t.Errorf("status %d: %s", status, out)
	}
	d.unchanged("killed and undone")
}
