package sandbox

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

func program(t *testing.T, role, addr string) toolcrib.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return toolcrib.Cmd{Path: exe, Env: roleEnv(role, addr)}
}

func TestExit(t *testing.T) {
	exit, err := Open(t.Context()).Run(t.Context(), program(t, "exit", ""), toolcrib.Grant{})
	if err != nil || exit.Code != 3 || exit.TimedOut || exit.Signal != "" || exit.Duration <= 0 {
		t.Errorf("exit %+v, %v", exit, err)
	}
}

// TestNothingIsInherited: a secret in our environment is not the program's.
func TestNothingIsInherited(t *testing.T) {
	t.Setenv("TOOLCRIB_TEST_SECRET", "hunter2")
	var out strings.Builder
	cmd := program(t, "environ", "")
	cmd.Stdout = &out
	if _, err := Open(t.Context()).Run(t.Context(), cmd, toolcrib.Grant{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), roleVar+"=environ") || strings.Contains(out.String(), "hunter2") {
		t.Errorf("the program's environment is\n%s", out.String())
	}
}

func TestTimeRunsOut(t *testing.T) {
	w := newWatch(t)
	exit, err := Open(t.Context()).Run(t.Context(), program(t, "wait", w.addr()), toolcrib.Grant{Time: 300 * time.Millisecond})
	if err != nil || !exit.TimedOut || exit.Code == 0 {
		t.Errorf("exit %+v, %v, want a timeout", exit, err)
	}
	if exit.Duration > 10*time.Second {
		t.Errorf("it took %v to end", exit.Duration)
	}
}

// TestTreesEnd attacks the bound it claims: children that leave the group and
// the session, children left behind, and the death of the one who would end
// them. Where it claims nothing, a call that needs the bound is refused.
func TestTreesEnd(t *testing.T) {
	s := Open(t.Context())
	if s.Enforces()&toolcrib.BoundTime == 0 {
		_, err := s.Run(t.Context(), program(t, "exit", ""), toolcrib.Grant{Bounds: toolcrib.BoundTime})
		if err == nil {
			t.Error("it ran a program under a bound that it does not enforce")
		}
		return
	}
	grant := toolcrib.Grant{Bounds: toolcrib.BoundTime}
	for _, role := range []string{"tree", "escape"} {
		t.Run(role, func(t *testing.T) {
			w := newWatch(t)
			ctx, cancel := context.WithCancel(t.Context())
			ran := make(chan error, 1)
			go func() {
				_, err := s.Run(ctx, program(t, role, w.addr()), grant)
				ran <- err
			}()
			conn := w.met()
			cancel()
			if err := <-ran; !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled run gave %v", err)
			}
			w.gone(conn)
		})
	}
	t.Run("abandon", func(t *testing.T) {
		w := newWatch(t)
		if _, err := s.Run(t.Context(), program(t, "abandon", w.addr()), grant); err != nil {
			t.Fatal(err)
		}
		w.gone(w.met())
	})
	t.Run("host dies", func(t *testing.T) {
		w := newWatch(t)
		host := self("host", w.addr())
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		conn := w.met()
		if err := host.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := host.Wait(); err == nil {
			t.Error("the host was not killed")
		}
		w.gone(conn)
	})
}

func TestRefuses(t *testing.T) {
	s := Open(t.Context())
	for name, c := range map[string]struct {
		cmd   toolcrib.Cmd
		grant toolcrib.Grant
	}{
		"bounds that are not enforced": {program(t, "exit", ""), toolcrib.Grant{Bounds: toolcrib.BoundTime | toolcrib.BoundFiles}},
		"a program to be searched for": {toolcrib.Cmd{Path: "true"}, toolcrib.Grant{}},
		"a program that is not there":  {toolcrib.Cmd{Path: program(t, "exit", "").Path + "-gone"}, toolcrib.Grant{}},
	} {
		if _, err := s.Run(t.Context(), c.cmd, c.grant); err == nil {
			t.Errorf("%s was run", name)
		}
	}
}

// TestInACrib: what the sandbox does not enforce, the crib refuses before
// anything runs.
func TestInACrib(t *testing.T) {
	s := Open(t.Context())
	cmd := program(t, "exit", "")
	type out struct {
		Code int `json:"code"`
	}
	tool := toolcrib.Define(toolcrib.Spec{Name: "run", Description: "Runs it.", Effects: toolcrib.Runs},
		func(ctx context.Context, env *toolcrib.Env, _ struct{}) (out, error) {
			exit, err := env.Exec(ctx, cmd)
			return out{exit.Code}, err
		})
	for _, c := range []struct {
		name  string
		grant toolcrib.Grant
		want  toolcrib.Code
	}{
		{"granted", toolcrib.Grant{Programs: []string{cmd.Path}, Bounds: s.Enforces()}, ""},
		{"more than it enforces", toolcrib.Grant{Programs: []string{cmd.Path}, Bounds: toolcrib.BoundNetwork}, toolcrib.CodeUnavailable},
		{"another program", toolcrib.Grant{Programs: []string{cmd.Path + "2"}}, toolcrib.CodeDenied},
	} {
		crib := &toolcrib.Crib{
			Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: &cribtest.Memory{},
			Sandbox: s, Grant: c.grant,
		}
		crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", tool)}})
		got, err := toolcrib.Invoke[out](t.Context(), crib, "run", nil)
		if toolcrib.CodeOf(err) != c.want || err == nil && got.Code != 3 {
			t.Errorf("%s: %+v, %v, want code %q", c.name, got, err, c.want)
		}
	}
}
