package upgrade

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/release"
)

// TestMain: this test is also the program that is installed, and the one that is
// killed in the middle of an upgrade.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println(`{"version":"v1.1.0"}`)
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "upgrade-until-killed" {
		untilKilled(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// site is a program that is installed, and a release beside it.
type site struct {
	t      testing.TB
	dir    string // of the release
	file   string // the program
	secret release.Secret
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), file: filepath.Join(t.TempDir(), release.BinaryName(runtime.GOOS))}
	var err error
	if s.secret, err = release.NewSecret(); err != nil {
		t.Fatal(err)
	}
	s.put(s.file, []byte("old"))
	s.publish("v1.1.0", []byte("new"))
	return s
}

func (s *site) put(file string, content []byte) {
	s.t.Helper()
	if err := os.WriteFile(file, content, 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read(file string) string {
	s.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(content)
}

// archiveOf is an archive for Linux: the tests are the same everywhere.
func archiveOf(t testing.TB, name string, program []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	gz, err := gzip.NewWriterLevel(&out, gzip.NoCompression) // one of the programs is this whole test
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(gz)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimSuffix(name, ".tar.gz") + "/toolcrib", Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = w.Write(program)
	}
	if err != nil || w.Close() != nil || gz.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// publish makes a release of a program, and gives the name of its archive.
func (s *site) publish(version string, program []byte) string {
	s.t.Helper()
	v, err := release.ParseVersion(version)
	if err != nil {
		s.t.Fatal(err)
	}
	name := release.ArchiveName(v, "linux", "amd64")
	s.put(filepath.Join(s.dir, name), archiveOf(s.t, name, program))
	s.sign(name)
	return name
}

// sign lists and signs files of the release.
func (s *site) sign(names ...string) {
	s.t.Helper()
	sums := release.Sums{}
	for _, name := range names {
		sum := sha256.Sum256([]byte(s.read(filepath.Join(s.dir, name))))
		sums[name] = hex.EncodeToString(sum[:])
	}
	signature, err := release.Sign(s.secret, sums.Text(), "a test")
	if err != nil {
		s.t.Fatal(err)
	}
	s.put(filepath.Join(s.dir, release.SumsFile), sums.Text())
	s.put(filepath.Join(s.dir, release.SignatureFile), signature)
}

func (s *site) config() Config {
	return Config{Key: s.secret.Public(), From: s.dir, File: s.file, Running: "v1.0.0", GOOS: "linux", GOARCH: "amd64",
		Try: func(context.Context, string) (string, error) { return "v1.1.0", nil }}
}

// upgrade looks and installs.
func (s *site) upgrade(cfg Config) (string, error) {
	offer, err := Look(s.t.Context(), cfg)
	if err != nil {
		return "", err
	}
	return offer.Install(s.t.Context(), cfg)
}

// refused: the upgrade fails for this reason, and nothing has changed.
func (s *site) refused(cfg Config, why string) {
	s.t.Helper()
	if _, err := s.upgrade(cfg); err == nil || !strings.Contains(err.Error(), why) {
		s.t.Errorf("want %q: %v", why, err)
	}
	if got := s.read(s.file); got != "old" {
		s.t.Errorf("the program is %.20q now", got)
	}
	if entries, err := os.ReadDir(filepath.Dir(s.file)); err != nil || len(entries) != 1 {
		s.t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestUpgradeAndBack(t *testing.T) {
	s := newSite(t)
	old, err := s.upgrade(s.config())
	if err != nil {
		t.Fatal(err)
	}
	if s.read(s.file) != "new" || s.read(old) != "old" || old != Old(s.file) {
		t.Errorf("%q, %q", s.read(s.file), s.read(old))
	}
	if info, err := os.Stat(s.file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Error(info.Mode(), err)
	}
	for _, want := range []string{"old", "new"} { // back, and forward again
		if _, err := Rollback(t.Context(), s.config()); err != nil || s.read(s.file) != want {
			t.Errorf("%q, %v", s.read(s.file), err)
		}
	}
	cfg := s.config()
	cfg.Try = func(context.Context, string) (string, error) { return "", os.ErrInvalid }
	if _, err := Rollback(t.Context(), cfg); err == nil || s.read(s.file) != "new" {
		t.Error(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(s.file)); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestRealProgram: the new program is really started.
func TestRealProgram(t *testing.T) {
	s := newSite(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := s.read(exe)
	s.publish("v1.1.0", []byte(program))
	cfg := s.config()
	cfg.Try = nil
	if _, err := s.upgrade(cfg); err != nil || s.read(s.file) != program {
		t.Fatal(err)
	}
	s = newSite(t)
	s.publish("v1.1.0", []byte("this is no program"))
	cfg = s.config()
	cfg.Try = nil
	s.refused(cfg, "does not start here")
}

func TestAttacks(t *testing.T) {
	for name, attack := range map[string]func(s *site) (Config, string){
		"changed archive": func(s *site) (Config, string) {
			s.put(filepath.Join(s.dir, "toolcrib_1.1.0_linux_amd64.tar.gz"), archiveOf(s.t, "toolcrib_1.1.0_linux_amd64.tar.gz", []byte("evil")))
			return s.config(), "should have"
		},
		"cut archive": func(s *site) (Config, string) {
			file := filepath.Join(s.dir, "toolcrib_1.1.0_linux_amd64.tar.gz")
			s.put(file, []byte(s.read(file)[:50]))
			return s.config(), "should have"
		},
		"changed list": func(s *site) (Config, string) {
			file := filepath.Join(s.dir, release.SumsFile)
			s.put(file, []byte(strings.Replace(s.read(file), "1.1.0", "9.1.0", 1)))
			return s.config(), "not to be trusted"
		},
		"no signature": func(s *site) (Config, string) {
			if err := os.Remove(filepath.Join(s.dir, release.SignatureFile)); err != nil {
				s.t.Fatal(err)
			}
			return s.config(), "without its signature"
		},
		"signature of an archive": func(s *site) (Config, string) {
			signature, err := release.Sign(s.secret, []byte(s.read(filepath.Join(s.dir, "toolcrib_1.1.0_linux_amd64.tar.gz"))), "a test")
			if err != nil {
				s.t.Fatal(err)
			}
			s.put(filepath.Join(s.dir, release.SignatureFile), signature)
			return s.config(), "not to be trusted"
		},
		"another key": func(s *site) (Config, string) {
			cfg := s.config()
			s.secret = newSite(s.t).secret
			s.publish("v1.1.0", []byte("evil"))
			return cfg, "another key"
		},
		"signed, but no list": func(s *site) (Config, string) {
			text := []byte("something else that was signed once\n")
			signature, err := release.Sign(s.secret, text, "a test")
			if err != nil {
				s.t.Fatal(err)
			}
			s.put(filepath.Join(s.dir, release.SumsFile), text)
			s.put(filepath.Join(s.dir, release.SignatureFile), signature)
			return s.config(), "not a checksum"
		},
		"older": func(s *site) (Config, string) {
			s.publish("v0.9.0", []byte("evil"))
			return s.config(), "not newer"
		},
		"same": func(s *site) (Config, string) {
			s.publish("v1.0.0", []byte("evil"))
			return s.config(), "not newer"
		},
		"no version of our own": func(s *site) (Config, string) {
			cfg := s.config()
			cfg.Running = "devel"
			return cfg, "not newer"
		},
		"says another version": func(s *site) (Config, string) {
			s.publish("v1.2.0", []byte("v1.1.0 in truth"))
			return s.config(), "the signed list says v1.2.0"
		},
		"directory instead of a file": func(s *site) (Config, string) {
			cfg := s.config()
			if err := os.Rename(s.file, s.file+".real"); err != nil {
				s.t.Fatal(err)
			}
			if err := os.Mkdir(s.file, 0o700); err != nil {
				s.t.Fatal(err)
			}
			return cfg, "not a file that could be replaced"
		},
		"directory instead of a list": func(s *site) (Config, string) {
			file := filepath.Join(s.dir, release.SumsFile)
			if err := os.Remove(file); err != nil {
				s.t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o700); err != nil {
				s.t.Fatal(err)
			}
			return s.config(), "not a file"
		},
		"huge list": func(s *site) (Config, string) {
			s.put(filepath.Join(s.dir, release.SumsFile), make([]byte, maxSums+1))
			return s.config(), "too large"
		},
		"nothing there": func(s *site) (Config, string) {
			cfg := s.config()
			cfg.From = filepath.Join(s.dir, "nothing")
			return cfg, "want a directory"
		},
		"plain http": func(s *site) (Config, string) {
			cfg := s.config()
			cfg.From = "http://releases.example.com/x"
			return cfg, "http only for this machine"
		},
		"another kind of address": func(s *site) (Config, string) {
			cfg := s.config()
			cfg.From = "file:///etc"
			return cfg, "want an https address"
		},
		"a password in the address": func(s *site) (Config, string) {
			cfg := s.config()
			cfg.From = "https://user:secret@releases.example.com/x"
			return cfg, "want an https address"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			cfg, why := attack(s)
			if name == "directory instead of a file" {
				if _, err := s.upgrade(cfg); err == nil || !strings.Contains(err.Error(), why) {
					t.Error(err)
				}
				return
			}
			s.refused(cfg, why)
		})
	}
}

// TestOlderIfAsked: going back is possible, when a person says so.
func TestOlderIfAsked(t *testing.T) {
	s := newSite(t)
	s.publish("v0.9.0", []byte("older"))
	cfg := s.config()
	cfg.AllowOlder = true
	cfg.Try = func(context.Context, string) (string, error) { return "v0.9.0", nil }
	if _, err := s.upgrade(cfg); err != nil || s.read(s.file) != "older" {
		t.Error(err)
	}
}

func TestOverHTTP(t *testing.T) {
	s := newSite(t)
	files := http.FileServer(http.Dir(s.dir))
	serve := func(archive http.HandlerFunc) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".gz") && archive != nil {
				archive(w, r)
				return
			}
			files.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	try := func(archive http.HandlerFunc, why string) {
		t.Helper()
		cfg := s.config()
		cfg.From = serve(archive)
		s.refused(cfg, why)
	}
	reached := false
	elsewhere := strings.Replace(serve(func(w http.ResponseWriter, r *http.Request) { reached = true; files.ServeHTTP(w, r) }), "127.0.0.1", "localhost", 1)
	try(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusFound)
	}, "another host")
	if reached {
		t.Error("the other host was asked")
	}
	try(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "more than five times")
	try(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte("cut"))
	}, "unexpected EOF")
	try(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "999999999999") }, "too large")
	try(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "404")
	try(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in first</html>")) }, "should have")
	cfg := s.config()
	cfg.From = serve(nil) + "/"
	if _, err := s.upgrade(cfg); err != nil || s.read(s.file) != "new" {
		t.Error(err)
	}
}

// TestBounded: what goes on and on ends in an error, however it comes.
func TestBounded(t *testing.T) {
	n, err := io.Copy(io.Discard, bounded(io.NopCloser(zeros{}), "x", 1<<20))
	if err == nil || n > 1<<20 {
		t.Error(n, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
