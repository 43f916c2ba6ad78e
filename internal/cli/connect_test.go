package cli

import (
	"bufio"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/setup"
)

// serve starts 'toolcrib serve' in a project and gives where its MCP is.
func (s *site) serve(args ...string) string {
	s.t.Helper()
	return s.start(`MCP at (http://\S+/mcp)`, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
}

// start starts a server and gives where it says that it is.
func (s *site) start(where string, args ...string) string {
	s.t.Helper()
	cmd := s.command(args...)
	said, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	url, at := "", regexp.MustCompile(where)
	for url == "" && lines.Scan() {
		if m := at.FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() { // so that it is not held up
			continue
		}
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		_ = cmd.Wait() // it was interrupted
	})
	if url == "" {
		s.t.Fatal("the server does not say where it is")
	}
	return url
}

// homeOf is where the settings and the state of a site lie.
func homeOf(s *site) string {
	for _, v := range s.env {
		if dir, ok := strings.CutPrefix(v, "TOOLCRIB_HOME="); ok {
			return dir
		}
	}
	return ""
}

// filesWith gives the files below a directory that hold a text.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestConnectOverHTTP: the way of somebody new. What connect writes for each
// client lets that client in, and other accounts cannot read it there.
func TestConnectOverHTTP(t *testing.T) {
	for _, client := range setup.Connectable() {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if client == clientfiles.ClaudeDesktop {
				if out, err := s.command("connect", client, "--http").CombinedOutput(); err == nil {
					t.Errorf("it has no servers at addresses: %s", out)
				}
				return
			}
			home := filepath.Dir(homeOf(s))
			token := strings.TrimSpace(s.toolcrib("token", "show"))
			kept := filepath.Join(homeOf(s), "state", "serve-token")
			if dry := s.toolcrib("connect", client, "--http", "--dry-run"); strings.Contains(dry, token) || !strings.Contains(dry, dryToken) {
				t.Errorf("what would be written: %s", dry)
			}
			s.toolcrib("connect", client, "--http")
			var file string
			for _, f := range filesWith(t, home, token) {
				if f != kept {
					file = f
				}
			}
			// Again, where others could read the file: it is closed, and nothing is written twice.
			if err := os.Chmod(file, 0o644); err != nil {
				t.Fatal(err)
			}
			if again := s.toolcrib("connect", client, "--http"); !strings.Contains(again, "already") {
				t.Error(again)
			}
			s.toolcrib("token", "new")
			fresh := strings.TrimSpace(s.toolcrib("token", "show"))
			if err := os.Chmod(file, 0o644); err != nil {
				t.Fatal(err)
			}
			s.toolcrib("connect", client, "--http")
			for _, f := range append(filesWith(t, home, token), filesWith(t, home, fresh)...) {
				if info, err := os.Stat(f); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s: %v, %v", f, info.Mode(), err)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := &command{}
			servers, problems := c.codec().Read(client, text)
			if len(servers) != 1 || len(problems) > 0 || servers[0].URL != "http://127.0.0.1:7717/mcp" || servers[0].Headers["Authorization"] != "Bearer "+fresh {
				t.Fatalf("%+v, %v\n%s", servers, problems, text)
			}
			s.toolcrib("connect", client, "--http", "--undo")
			if left, err := os.ReadFile(file); err == nil && strings.Contains(string(left), fresh) {
				t.Errorf("left behind: %s", left)
			}
		})
	}
	t.Run("in a project", func(t *testing.T) {
		s := newSite(t)
		out, err := s.command("connect", "claude-code", "--http", "--project").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "file of the project") || s.read(".mcp.json") != "" {
			t.Errorf("%v: %s; %s", err, out, s.read(".mcp.json"))
		}
	})
}

// TestNewcomer: serve, connect, and the client works with what it was given.
func TestNewcomer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("interrupting a program is another matter there")
	}
	s := newSite(t)
	url := s.serve()
	s.toolcrib("connect", "claude-code", "--http")
	text, err := os.ReadFile(filepath.Join(filepath.Dir(homeOf(s)), ".claude.json"))
	if err != nil {
		t.Fatal(err)
	}
	servers, _ := (&command{}).codec().Read(clientfiles.ClaudeCode, text)
	if len(servers) != 1 {
		t.Fatalf("%s", text)
	}
	client := &http.Client{Transport: header(servers[0].Headers["Authorization"])}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "newcomer", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if text, bad := s.call(session, "evaluate_expression", `{"expression":"6*7"}`); bad || !strings.Contains(text, "42") {
		t.Error(text)
	}
}
