package httpapi

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestOwnToken(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	tokens := make([]string, 8)
	var all sync.WaitGroup
	for i := range tokens {
		all.Go(func() {
			var err error
			if tokens[i], err = OwnToken(state); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if distinct := slices.Compact(slices.Sorted(slices.Values(tokens))); len(distinct) != 1 || len(tokens[0]) < 40 {
		t.Errorf("those who start together have %q", distinct)
	}
	if info, err := os.Stat(OwnTokenFile(state)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(state); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	fresh, err := NewOwnToken(state)
	if again, _ := OwnToken(state); err != nil || fresh == tokens[0] || again != fresh {
		t.Errorf("%q, then %q, %v", fresh, again, err)
	}
	for name, spoil := range map[string]func(file string) error{
		"empty":      func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"short":      func(file string) error { return os.WriteFile(file, []byte("abc\n"), 0o600) },
		"lines":      func(file string) error { return os.WriteFile(file, []byte(fresh+"\n"+fresh), 0o600) },
		"long":       func(file string) error { return os.WriteFile(file, []byte(strings.Repeat("a", 1<<20)), 0o600) },
		"for others": func(file string) error { return os.Chmod(file, 0o644) },
	} {
		if name == "for others" && runtime.GOOS == "windows" {
			continue
		}
		if _, err := NewOwnToken(state); err != nil {
			t.Fatal(err)
		}
		if err := spoil(OwnTokenFile(state)); err != nil {
			t.Fatal(err)
		}
		if token, err := OwnToken(state); err == nil || !strings.Contains(err.Error(), "toolcrib token new") {
			t.Errorf("%s: %q, %v", name, token, err)
		}
		if token, err := ReadOwnToken(state); err == nil {
			t.Errorf("%s: a running server takes %q", name, token)
		}
	}
}

func TestListenOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "7717", "", "127.0.0.1", "localhost.example.com:0"} {
		ln, err := Listen(t.Context(), Listening{Address: address})
		if err == nil {
			_ = ln.Close()
			t.Errorf("listens on %q", address)
		} else if !strings.Contains(err.Error(), "serve.listen") {
			t.Errorf("%q: %v does not name the key", address, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "127.8.9.1:0", "localhost:0"} {
		ln, err := Listen(t.Context(), Listening{Address: address})
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		_ = ln.Close()
	}
}
