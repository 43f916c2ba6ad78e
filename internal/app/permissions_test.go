package app

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPermissionsFollowTheGrant: what a real call would be refused by its grant is blocked
// at POST /v1/permissions, and what a real call is given is not.
func TestPermissionsFollowTheGrant(t *testing.T) {
	a, url, _ := newTokenApp(t, "ann")
	url = strings.TrimSuffix(url, "/mcp")
	dir := a.reach.Base
	for name, text := range map[string]string{".env": "KEY=1", "notes.txt": "KEY=1", "conf/.env.local": "KEY=2"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(".env", filepath.Join(dir, "link")), os.Link(filepath.Join(dir, ".env"), filepath.Join(dir, "hard"))); err != nil {
		t.Skip(err)
	}
	post := func(path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer ann-token")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	for _, c := range []struct {
		tool, args string
		blocked    bool
	}{
		{"read_file", `{"path":"notes.txt"}`, false},
		{"read_file", `{"path":".env"}`, true},
		{"read_file", `{"path":"conf/../.env"}`, true},
		{"read_file", `{"path":"link"}`, true},
		{"read_file", `{"path":"hard"}`, true},
		{"read_file", `{"path":"conf/.env.local"}`, true},
		{"read_file", `{"path":"/etc/hostname"}`, true},
		{"search_files", `{"pattern":"KEY","path":".env"}`, true},
		{"search_files", `{"pattern":"KEY","path":"conf"}`, false},
		{"list_files", `{"path":"/etc"}`, true},
	} {
		_, said := post("/v1/permissions", `{"tool":"`+c.tool+`","args":`+c.args+`}`)
		if strings.Contains(said, `"is_blocked":true`) != c.blocked || strings.Contains(said, `"is_allowed":true`) == c.blocked {
			t.Errorf("%s %s: %s", c.tool, c.args, said)
		}
		if status, made := post("/v1/tools/"+c.tool, c.args); (status == http.StatusForbidden) != c.blocked {
			t.Errorf("%s %s: the real call: %d %s", c.tool, c.args, status, made)
		}
	}
	if _, said := post("/v1/permissions", `{"tool":"write_file","args":{"path":".env","content":"x"}}`); !strings.Contains(said, `"is_blocked":true`) {
		t.Error(said)
	}
}
