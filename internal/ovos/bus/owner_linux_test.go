package bus

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib/cribtest"
)

// getVariable makes the test program a client of another account.
const getVariable = "OVOSBUS_TEST_GET"

// TestGetAsOther is that client.
func TestGetAsOther(t *testing.T) {
	url := os.Getenv(getVariable)
	if url == "" {
		return
	}
	r, err := http.Get(url) //nolint:noctx // on this machine
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	fmt.Println("status", r.StatusCode)
}

// TestOtherAccounts: a bus without a token takes our own programs, and not those of
// another account; with the token it takes both.
func TestOtherAccounts(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only the administrator can be somebody else
	}
	program := forAll(t)
	for query, want := range map[string]int{"": http.StatusForbidden, "?token=secret": http.StatusUpgradeRequired} {
		s, err := NewServer(ServerConfig{Token: strings.TrimPrefix(query, "?token=")})
		if err != nil {
			t.Fatal(err)
		}
		here := httptest.NewServer(s)
		t.Cleanup(here.Close)
		url := here.URL + DefaultPath + query
		own, err := http.Get(url) //nolint:noctx // on this machine
		if err != nil {
			t.Fatal(err)
		}
		_ = own.Body.Close()
		if own.StatusCode != http.StatusUpgradeRequired {
			t.Errorf("we ourselves: %s", own.Status)
		}
		c := exec.CommandContext(t.Context(), program, "-test.run=^TestGetAsOther$", "-test.v")
		c.Dir, c.Env = "/", []string{getVariable + "=" + url}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), fmt.Sprintln("status", want)) {
			t.Errorf("another account with %q: %v, want %d\n%s", query, err, want, out)
		}
	}
}

// forAll gives this program where every account can run it.
func forAll(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "client")
	cribtest.Program(t, name, text)
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // for every account
		t.Fatal(err)
	}
	return name
}
