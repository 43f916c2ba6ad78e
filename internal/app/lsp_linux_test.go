package app

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestLanguageServersAreHeld: a language server that turns against its person reads what
// was granted, and can do nothing else. What it tries it tells as a complaint.
func TestLanguageServersAreHeld(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	s := openToolShop(t, nil, func(cfg *settings.Config, _ *Needs, s *toolShop) {
		for path, text := range map[string]string{"outside/file": "secret", "work/.env": "PASSWORD=x", "work/file": "fine", "work/denied/file": "secret", "work/.toolcrib/tools/x.yaml": "command: [ls]", "work/a.x": "one\n", "work/denied/b.x": "one\n"} {
			plant(t, filepath.Join(s.base, path), text)
		}
		server := filepath.Join(s.base, "server", "attack.sh")
		plant(t, server, strings.Replace(attack(s, "", port), "\n", "\nexec 1>&2\n", 1))
		cfg.Permissions.Deny = append(cfg.Permissions.Deny, "read_file(denied/**)")
		cfg.Mode = "default" // nobody is asked about what only looks
		cfg.Toolboxes.LSP.Enabled = true
		cfg.Toolboxes.LSP.Servers = map[string]settings.LSPServer{"own": {Command: server, Extensions: map[string]string{".x": "x"}}}
	})
	_, err = callText(t, s.App, "lsp_hover", `{"file":"a.x","line":1,"symbol":"one"}`)
	if err == nil {
		t.Fatal("it has answered")
	}
	_, told, _ := strings.Cut(err.Error(), "It printed:\n")
	if strings.TrimSpace(told) != "begun\nread in the project" {
		t.Errorf("it could do this: %v", err)
	}
	for _, made := range []string{"outside/made", "work/made", "server/beside"} {
		if _, err := os.Stat(filepath.Join(s.base, made)); err == nil {
			t.Errorf("it has made %s", made)
		}
	}
	if _, err := callText(t, s.App, "lsp_hover", `{"file":"denied/b.x","line":1,"symbol":"one"}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("a denied file: %v", err)
	}
	// A rename writes, so that somebody has to be asked.
	if _, err := callText(t, s.App, "lsp_rename", `{"file":"a.x","line":1,"symbol":"one","new_name":"two"}`); err == nil {
		t.Error("it was renamed")
	}
}
