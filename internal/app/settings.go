package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcpconf"
)

// RewriteFile changes a file as a whole: what is there before is kept as a backup,
// and a reader sees the old or the new.
func RewriteFile(file string, change func([]byte) ([]byte, error)) error {
	return rewriteFile(file, 0o777, change)
}

// RewritePrivate does so with a file that gets something that other accounts
// must not read: they cannot read it any more, nor its backup.
func RewritePrivate(file string, change func([]byte) ([]byte, error)) error {
	if err := rewriteFile(file, 0o700, change); err != nil {
		return err
	}
	info, err := os.Stat(file) // it may have been as wanted already
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(file, info.Mode().Perm()&0o700)
}

func rewriteFile(file string, most os.FileMode, change func([]byte) ([]byte, error)) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	there := err == nil
	after, err := change(append([]byte(nil), before...))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if string(after) == string(before) {
		return nil
	}
	// Another may have written in between: what they wrote is not thrown away.
	if now, err := os.ReadFile(file); there != (err == nil) || string(now) != string(before) {
		return fmt.Errorf("%s was changed by somebody else meanwhile, so it is left as it is: try again", file)
	}
	mode := os.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm() & most
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if there {
		if err := ReplaceFile(backupOf(file), before, mode); err != nil {
			return fmt.Errorf("keeping a backup of %s: %w", file, err)
		}
	}
	return ReplaceFile(file, after, mode)
}

func backupOf(file string) string {
	return file + ".before-" + time.Now().UTC().Format("20060102T150405.000")
}

// ReplaceFile writes a file beside its place and puts it there.
func ReplaceFile(file string, text []byte, mode os.FileMode) (err error) {
	if at, err := filepath.EvalSymlinks(file); err == nil {
		file = at // a link stays one
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error counts
		}
	}()
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// ServerEntry writes a server as an entry of mcp_servers.
func ServerEntry(s mcpconf.Server) map[string]any {
	e := map[string]any{}
	put := func(key string, value any, set bool) {
		if set {
			e[key] = value
		}
	}
	put("command", s.Command, s.Command != "")
	put("args", s.Args, len(s.Args) > 0)
	put("env", s.Env, len(s.Env) > 0)
	put("cwd", s.Cwd, s.Cwd != "")
	put("url", s.URL, s.URL != "")
	put("transport", s.Transport, s.Transport == mcpconf.SSE || s.Transport == mcpconf.HTTP)
	put("headers", s.Headers, len(s.Headers) > 0)
	put("timeout", s.Timeout.String(), s.Timeout > 0)
	put("enabled_tools", s.EnabledTools, len(s.EnabledTools) > 0)
	put("disabled_tools", s.DisabledTools, len(s.DisabledTools) > 0)
	put("assign_to_agents", s.Agents, len(s.Agents) > 0)
	put("disabled", true, s.Disabled)
	return e
}
