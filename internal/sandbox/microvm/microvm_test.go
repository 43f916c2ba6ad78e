//go:build unix

package microvm

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

func TestRun(t *testing.T) {
	for _, form := range []string{"", "text"} {
		s := newServer(t, form)
		box := s.open(t)
		dir := t.TempDir()
		var out, errs bytes.Buffer
		cmd := toolcrib.Cmd{
			Path: "/bin/sh", Args: []string{"-c", `printf 'out\0\377'; pwd; printf 'err' >&2; printf '%s|' "$A" "$B" "$@"; env -0 >&2; exit 41`, "sh", "", "a b", "\xff", "x\n"},
			Env: []string{"A=1\n", "B='\"$(id)\xfe", "PATH=/usr/bin:/bin"}, Dir: dir, Stdout: &out, Stderr: &errs,
		}
		exit, err := box.Run(t.Context(), cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}, Time: 20 * time.Second, Bounds: box.Enforces()})
		if err != nil || exit.Code != 41 || exit.TimedOut || exit.Duration <= 0 {
			t.Fatalf("ended with %+v, error %v", exit, err)
		}
		if want := "out\x00\xff" + dir + "\n1\n|'\"$(id)\xfe||a b|\xff|x\n|"; out.String() != want {
			t.Errorf("output %q, want %q", out.String(), want)
		}
		got := strings.Split(strings.TrimSuffix(strings.TrimPrefix(errs.String(), "err"), "\x00"), "\x00")
		got = slices.DeleteFunc(got, func(v string) bool { return strings.HasPrefix(v, "PWD=") || strings.HasPrefix(v, "_=") }) // the shell's own
		slices.Sort(got)
		if diff := cmp.Diff([]string{"A=1\n", "B='\"$(id)\xfe", "PATH=/usr/bin:/bin"}, got); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"sandbox.start", "sandbox.command.run", "sandbox.stop"}, s.methods()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		want := machine{Image: "microsandbox/python", Memory: sandbox.DefaultMemory >> 20, CPUs: 1, Volumes: []string{dir + ":" + dir}}
		if diff := cmp.Diff(want, s.asked[0].Params); diff != "" {
			t.Errorf("machine (-want +got):\n%s", diff)
		}
		if len(s.running) != 0 {
			t.Errorf("machines are left: %v", s.running)
		}
	}
}

func TestDeadline(t *testing.T) {
	for _, flaw := range []string{"", "start hangs"} {
		s := newServer(t, "")
		box := s.open(t)
		s.flaw = flaw
		began := time.Now()
		exit, err := box.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sleep", Args: []string{"60"}}, toolcrib.Grant{Time: 500 * time.Millisecond})
		if err != nil || !exit.TimedOut || exit.Code != 137 || time.Since(began) > 10*time.Second {
			t.Errorf("%q: %+v after %s, error %v", flaw, exit, time.Since(began), err)
		}
		s.mu.Lock()
		if len(s.running) != 0 || len(s.asked) == 0 || s.asked[len(s.asked)-1].Method != "sandbox.stop" {
			t.Errorf("%q: machines are left: %v", flaw, s.running)
		}
		s.mu.Unlock()
	}
}

func TestCallerGoesAway(t *testing.T) {
	s := newServer(t, "")
	box := s.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	exit, err := box.Run(ctx, toolcrib.Cmd{Path: "/bin/sleep", Args: []string{"60"}}, toolcrib.Grant{})
	if err != nil || !exit.TimedOut || len(s.running) != 0 {
		t.Errorf("%+v, error %v, machines %v", exit, err, s.running)
	}
}

// A machine that cannot be stopped is not kept quiet, whatever the program did.
func TestStopFails(t *testing.T) {
	s := newServer(t, "")
	box := s.open(t)
	s.flaw = "stop fails"
	if exit, err := box.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "exit 5"}}, toolcrib.Grant{}); !errors.Is(err, errStop) || exit.Code != 5 {
		t.Errorf("ended with %+v, error %v", exit, err)
	}
	if exit, err := box.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sleep", Args: []string{"60"}}, toolcrib.Grant{Time: 300 * time.Millisecond}); !errors.Is(err, errStop) || !exit.TimedOut {
		t.Errorf("at the deadline: %+v, error %v", exit, err)
	}
}

func TestServerFailures(t *testing.T) {
	for _, c := range []struct{ flaw, cause string }{
		{"start fails", "Internal server error"}, {"redirect", "sends us elsewhere"}, {"garbage", "no JSON"}, {"no result", "no result"},
		{"rpc error", "Command execution failed (-32603)"}, {"endless", "longer than"}, {"cut off", "cut off"},
	} {
		t.Run(c.flaw, func(t *testing.T) {
			s := newServer(t, "")
			box := s.open(t)
			s.flaw = c.flaw
			_, err := box.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "echo a long enough line of output"}}, toolcrib.Grant{})
			if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(errors.Unwrap(err).Error(), c.cause) {
				t.Errorf("got %v (%v), want unavailable with %q", err, errors.Unwrap(err), c.cause)
			}
			if len(s.running) != 0 {
				t.Errorf("machines are left: %v", s.running)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	s := newServer(t, "")
	box := s.open(t)
	sh := toolcrib.Cmd{Path: "/bin/sh"}
	for _, c := range []struct {
		name  string
		cmd   toolcrib.Cmd
		grant toolcrib.Grant
		code  toolcrib.Code
		says  string
	}{
		{"single hosts", sh, toolcrib.Grant{Hosts: []string{"good.example"}}, toolcrib.CodeUnavailable, "not only good.example"},
		{"no network", sh, toolcrib.Grant{Bounds: toolcrib.BoundNetwork}, toolcrib.CodeUnavailable, "network"},
		{"processes", sh, toolcrib.Grant{Bounds: toolcrib.BoundProcesses}, toolcrib.CodeUnavailable, "processes"},
		{"read-only", sh, toolcrib.Grant{Dirs: []files.Dir{{Path: "/usr"}}}, toolcrib.CodeUnavailable, "read-only"},
		{"a colon", sh, toolcrib.Grant{Dirs: []files.Dir{{Path: "/a:/etc", Write: true}}}, toolcrib.CodeUnavailable, "colon"},
		{"input", toolcrib.Cmd{Path: "/bin/sh", Stdin: strings.NewReader("x")}, toolcrib.Grant{}, toolcrib.CodeUnavailable, "input"},
		{"a long argument", toolcrib.Cmd{Path: "/bin/sh", Args: []string{strings.Repeat("x", 1<<20)}}, toolcrib.Grant{}, toolcrib.CodeInvalid, "too long"},
		{"a program like a variable", toolcrib.Cmd{Path: "/a=b"}, toolcrib.Grant{}, toolcrib.CodeInvalid, "="},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := box.Run(t.Context(), c.cmd, c.grant); toolcrib.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s with %q", err, c.code, c.says)
			}
		})
	}
	if got := s.methods(); len(got) != 0 {
		t.Errorf("what was refused was asked of the server: %q", got)
	}
	for _, c := range []struct {
		cmd  toolcrib.Cmd
		code toolcrib.Code
	}{
		{toolcrib.Cmd{Path: "/no/such"}, toolcrib.CodeUnavailable}, {toolcrib.Cmd{Path: "/usr"}, toolcrib.CodeUnavailable},
		{toolcrib.Cmd{Path: "/bin/sh", Dir: "/no/such"}, toolcrib.CodeDenied},
	} {
		if _, err := box.Run(t.Context(), c.cmd, toolcrib.Grant{}); toolcrib.CodeOf(err) != c.code {
			t.Errorf("%+v: %v, want %s", c.cmd, err, c.code)
		}
	}
}

// What cannot be covered is not shown.
func TestProtectedPlaces(t *testing.T) {
	shield, err := sandbox.NewShield("", []string{".env"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	box := newServer(t, "").open(t)
	box.cfg.Shield = shield
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: t.TempDir(), Write: true}}}
	cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", ":"}}
	if _, err := box.Run(t.Context(), cmd, grant); err != nil {
		t.Errorf("nothing is protected there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(grant.Dirs[0].Path, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := box.Run(t.Context(), cmd, grant); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), ".env") {
		t.Errorf("a protected file was shown: %v", err)
	}
}

func TestOpen(t *testing.T) {
	s := newServer(t, "")
	for _, c := range []struct {
		name string
		cfg  Config
		says string
	}{
		{"a wrong key", Config{URL: s.URL, Key: "wrong"}, "could not run"},
		{"nobody there", Config{URL: "http://127.0.0.1:1"}, "no microsandbox server answers"},
		{"another machine without https", Config{URL: "http://example.com:5555"}, "https"},
		{"a name in the URL", Config{URL: "http://user:pw@127.0.0.1:5555"}, "plain URL"},
		{"not a URL", Config{URL: "127.0.0.1:5555"}, "URL"},
		{"another scheme", Config{URL: "ftp://127.0.0.1/"}, "https"},
		{"a bad namespace", Config{URL: s.URL, Namespace: "a/b"}, "namespace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Open(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
	t.Setenv("MSB_SERVER_URL", s.URL)
	t.Setenv("MSB_API_KEY", testKey)
	if _, err := Open(t.Context(), Config{}); err != nil {
		t.Errorf("from the environment: %v", err)
	}
}

func TestClaims(t *testing.T) {
	if got, want := newServer(t, "").open(t).Enforces(), toolcrib.BoundFiles|toolcrib.BoundMemory|toolcrib.BoundTime; got != want {
		t.Errorf("claims %v, want %v", sandbox.BoundNames(got), sandbox.BoundNames(want))
	}
}

func TestSweep(t *testing.T) {
	s := newServer(t, "")
	living := namePrefix + strings.ReplaceAll(sandbox.OwnerName(), ".", "_") + "-1-x"
	s.left = []string{namePrefix + "999999999_5-1-x", living, namePrefix + "strange"}
	s.open(t) // which sweeps
	if want := []string{living, namePrefix + "strange"}; !slices.Equal(s.left, want) {
		t.Errorf("left are %q, want %q", s.left, want)
	}
}

// Much output is cut and said to be.
func TestMuchOutput(t *testing.T) {
	box := newServer(t, "").open(t)
	var out bytes.Buffer
	exit, err := box.Run(t.Context(), toolcrib.Cmd{Path: "/usr/bin/head", Args: []string{"-c", "9000000", "/dev/zero"}, Stdout: &out}, toolcrib.Grant{})
	if err == nil || !strings.Contains(err.Error(), "more than") || out.Len() != maxOutput || exit.Code != 0 {
		t.Errorf("%d bytes, %+v, error %v", out.Len(), exit, err)
	}
}

// What the script tells is read back, whatever the bytes.
func TestParseReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out, errs := rapid.SliceOf(rapid.Byte()).Draw(t, "out"), rapid.SliceOf(rapid.Byte()).Draw(t, "err")
		wrapAt := rapid.IntRange(1, 80).Draw(t, "width")
		lines := func(b []byte) string {
			text := base64.StdEncoding.EncodeToString(b)
			var s strings.Builder
			for text != "" {
				n := min(wrapAt, len(text))
				s.WriteString(text[:n] + "\n")
				text = text[n:]
			}
			return s.String()
		}
		got, err := parse("T status 3\nT o\n"+lines(out)+"T e\n"+lines(errs)+"T end\n", "T")
		if err != nil || got.status != 3 || !bytes.Equal(got.out, out) || !bytes.Equal(got.err, errs) {
			t.Fatalf("%+v, error %v", got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("T status 3\nT o\nYQ==\nT e\nT end\n")
	f.Add("T status 300\nT end\n")
	f.Add("T program\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse(text, "T")
		if err == nil && (got.status < 0 || got.status > 255 || !strings.Contains(text, "T end")) {
			t.Errorf("%q was read as %+v", text, got)
		}
	})
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","result":"x","id":"1"}`), 200)
	f.Add([]byte(`{"error":"Invalid credentials","code":1001}`), 401)
	f.Add([]byte(`{"error":{"code":-32603,"message":"m"},"result":1}`), 200)
	f.Fuzz(func(t *testing.T, text []byte, status int) {
		result, err := readAnswer(text, status)
		if err == nil && (status != 200 || len(result) == 0) {
			t.Errorf("%q with %d was taken for an answer", text, status)
		}
		var a commandAnswer
		if err == nil && json.Unmarshal(result, &a) == nil {
			_, _ = parse(string(a.Output), "T")
		}
	})
}
