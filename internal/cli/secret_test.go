package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// TestSecretScripts plays testdata/script/secret. Those scripts have commands
// of their own: keyfrom NAME FILE sets a variable to a file's text, and nowhere
// DIR TEXT looks for a text in every file below a directory.
func TestSecretScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script/secret",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TOOLCRIB_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // each program would wait for a second at its end
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"tamper": tamper,
			"keyfrom": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
			},
			"nowhere": func(ts *testscript.TestScript, _ bool, args []string) {
				found, err := vaulttest.FileWith(ts.MkAbs(args[0]), args[1])
				ts.Check(err)
				if found != "" {
					ts.Fatalf("%s holds %q", found, args[1])
				}
			},
		},
	})
}

// TestVaultErrors: every kind of trouble has its exit status and says what to do.
func TestVaultErrors(t *testing.T) {
	v, err := vault.Open(vault.Config{Dir: filepath.Join(t.TempDir(), "vault")}, vault.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	c := &command{environ: []string{"HOME=" + t.TempDir(), "USERPROFILE=" + t.TempDir()}, err: &bytes.Buffer{}}
	for _, one := range []struct {
		err    error
		status int
		says   string
	}{
		{vault.ErrNotFound, 4, "secret list"},
		{vault.ErrInvalid, 3, ""},
		{vault.ErrKey, 7, "secret newkey"},
		{vault.ErrDamaged, 7, "left as it is"},
		{vault.ErrUnsafe, 7, "nothing was read"},
		{vault.ErrBusy, 6, "try again"},
		{fmt.Errorf("%w: %w", vault.ErrKey, context.Canceled), 6, ""},
		{errors.New("disk full"), 9, "disk full"},
	} {
		got := c.vaultError(v, fmt.Errorf("doing it: %w", one.err))
		if exitStatus(got) != one.status || !strings.Contains(got.Error(), one.says) {
			t.Errorf("%v: status %d, %v", one.err, exitStatus(got), got)
		}
	}
}

// interrupted is a pipe whose writer was ended by the same key that ended us.
type interrupted struct{ stop func() }

func (i interrupted) Read(p []byte) (int, error) {
	i.stop()
	return copy(p, "half a val"), errors.New("EOF")
}
func (interrupted) Close() error { return nil }

func TestHalfAValueIsNone(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	c := &command{in: interrupted{stop}, err: &bytes.Buffer{}}
	value, _, err := c.value(ctx, "A")
	if value != "" || toolcrib.CodeOf(err) != toolcrib.CodeTimeout {
		t.Errorf("%q, %v", value, err)
	}
}

func TestValue(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", "a\r": "a\r", "\x00\xff\n": "\x00\xff"} {
		c := &command{in: readCloser{strings.NewReader(in)}}
		got, cut, err := c.value(t.Context(), "A")
		if got != want || cut != strings.HasSuffix(in, "\n") || err != nil {
			t.Errorf("%q: %q, %v, %v", in, got, cut, err)
		}
	}
	for _, in := range []string{"", "\n", "\r\n"} {
		if _, _, err := (&command{in: readCloser{strings.NewReader(in)}}).value(t.Context(), "A"); !isUsage(err) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// TestReveal: in a pipe the value is all that is written; at a terminal it
// cannot steer it.
func TestReveal(t *testing.T) {
	var out bytes.Buffer
	c := &command{out: &out}
	if err := c.reveal(vault.Ref{Name: "A"}, "x\x1b[31m\xff"); err != nil || out.String() != "x\x1b[31m\xff" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	c.output = "json"
	if err := c.reveal(vault.Ref{Name: "A"}, "x\xff"); err != nil || out.String() != `{"name":"A","bytes":"eP8="}`+"\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
