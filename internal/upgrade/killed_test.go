package upgrade

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/release"
)

// untilKilled upgrades a program from the release beside it, again and again.
func untilKilled(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "key"))
	if err != nil {
		panic(err)
	}
	key, err := release.ParseKey(text)
	if err != nil {
		panic(err)
	}
	cfg := Config{Key: key, From: dir, File: filepath.Join(dir, "bin", "toolcrib"), Running: "v1.0.0", GOOS: "linux", GOARCH: "amd64",
		Try: func(context.Context, string) (string, error) { return "v1.1.0", nil }}
	fmt.Println("begun")
	for {
		offer, err := Look(context.Background(), cfg)
		if err == nil {
			_, err = offer.Install(context.Background(), cfg)
		}
		if err == nil {
			_, err = Rollback(context.Background(), cfg)
		}
		if err != nil {
			panic(err)
		}
	}
}

// TestKilledMeanwhile: at whatever moment an upgrade is killed, the program is the
// old one or the new one, whole, and so is what is kept.
func TestKilledMeanwhile(t *testing.T) {
	s := newSite(t)
	old, fresh := strings.Repeat("old", 1<<15), strings.Repeat("new", 1<<15)
	s.publish("v1.1.0", []byte(fresh))
	bin := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(bin, "toolcrib")
	s.put(file, []byte(old))
	s.put(filepath.Join(s.dir, "key"), s.secret.Public().File())
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		cmd := exec.CommandContext(t.Context(), exe, "upgrade-until-killed", s.dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(int(20 * time.Millisecond)))) // any moment
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		for _, f := range []string{file, Old(file)} {
			got, err := os.ReadFile(f)
			if os.IsNotExist(err) && f != file {
				continue
			}
			if err != nil || string(got) != old && string(got) != fresh {
				t.Fatalf("%s has %d bytes, %v", filepath.Base(f), len(got), err)
			}
		}
	}
	// What they left is cleared away when it is old.
	entries, err := os.ReadDir(bin)
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-3 * longest)
	for _, e := range entries {
		if e.IsDir() {
			if err := os.Chtimes(filepath.Join(bin, e.Name()), long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	p, err := openPlace(file)
	if err != nil || p.close() != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(bin, workPrefix+"*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestOwner(t *testing.T) {
	root := t.TempDir()
	info := filepath.Join(root, "var", "lib", "dpkg", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(info, "toolcrib:amd64.list"), []byte("/.\n/usr/local/lib\n/opt/x/toolcrib\n/bin/also\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"/opt/x/toolcrib": "Debian package toolcrib", "/usr/bin/also": "Debian package toolcrib", "/opt/x/toolcri": "", "/home/me/.local/bin/toolcrib": "", "/usr/local/bin/toolcrib": "",
		"/usr/bin/toolcrib": "the system", "/nix/store/x/bin/toolcrib": "Nix", "/opt/homebrew/Cellar/toolcrib/1/bin/toolcrib": "Homebrew",
	} {
		owner := FindOwner(root, file)
		if (owner == nil) != (want == "") || owner != nil && !strings.Contains(owner.Name, want) {
			t.Errorf("%s: %+v", file, owner)
		}
	}
}
