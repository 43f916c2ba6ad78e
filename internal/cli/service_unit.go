package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/service"
	"github.com/toolcrib/toolcrib/internal/text"
)

// serviceUnit is the service of a frontend, with what this command was given.
func (c *command) serviceUnit(name string) (service.Unit, error) {
	i := slices.IndexFunc(serviceFrontends(), func(u service.Unit) bool { return u.Name == name })
	if i < 0 {
		return service.Unit{}, noService(name)
	}
	u := serviceFrontends()[i]
	if u.Name == "serve" {
		if err := c.noAgent("serve"); err != nil {
			return u, err
		}
	}
	if _, _, err := c.load(); err != nil {
		return u, err
	}
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		return u, fmt.Errorf("finding this program: %w", err)
	}
	u.Program = exe
	if c.config != "" {
		file, err := filepath.Abs(c.config)
		if err != nil {
			return u, fmt.Errorf("finding the configuration: %w", err)
		}
		u.Args = append(u.Args, "--config", file)
	}
	if c.agent != "" {
		u.Args = append(u.Args, "--agent", c.agent)
	}
	for _, rule := range c.deny {
		u.Args = append(u.Args, "--deny", rule)
	}
	for _, rule := range c.ask {
		u.Args = append(u.Args, "--ask", rule)
	}
	for _, pair := range c.set {
		if err := c.mayStandOpen(pair); err != nil {
			return u, err
		}
		u.Args = append(u.Args, "--set", pair)
	}
	u.Env = c.serviceEnv()
	return u, nil
}

// mayStandOpen refuses a setting that is a secret, or holds one: the file of a
// service is no place for it, and the command line that it makes is seen by everybody.
func (c *command) mayStandOpen(pair string) error {
	key, value, _ := strings.Cut(pair, "=")
	looks, err := app.LooksSecret()
	if err != nil {
		return err
	}
	shown, err := config.ShowJSON(c.loaded)
	if err != nil {
		return err
	}
	var listing struct {
		Config map[string]any `json:"config"`
	}
	if err := json.Unmarshal(shown, &listing); err != nil {
		return err
	}
	var at any = listing.Config
	for part := range strings.SplitSeq(key, ".") {
		block, ok := at.(map[string]any)
		if at = nil; ok {
			at = block[part]
		}
	}
	if looks(value) || hides(at) {
		return usagef("--set %s: a secret does not belong into the file of a service: write the setting into your configuration, with ${secret:NAME} from the vault", key)
	}
	return nil
}

// hides reports whether a value is hidden, or holds one that is.
func hides(value any) bool {
	switch v := value.(type) {
	case string:
		return v == config.Hidden
	case []any:
		return slices.ContainsFunc(v, hides)
	case map[string]any:
		for _, inner := range v {
			if hides(inner) {
				return true
			}
		}
	}
	return false
}

// serviceEnv are the variables that a service gets: where our files are, and where
// programs are, which a manager of services does not know as a terminal does.
func (c *command) serviceEnv() map[string]string {
	env := map[string]string{}
	names := []string{"TOOLCRIB_HOME"}
	if c.getenv("TOOLCRIB_HOME") == "" {
		names = []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}
	}
	for _, name := range names {
		if dir := c.getenv(name); filepath.IsAbs(dir) {
			env[name] = dir
		}
	}
	if path := c.programs.Path(c.getenv("PATH")); path != "" {
		env["PATH"] = path
	}
	return env
}

// tellLeftOut names variables that change what this command does, and that a
// service does not get.
func (c *command) tellLeftOut() {
	var names []string
	for _, v := range c.environ {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "TOOLCRIB_") && name != "TOOLCRIB_HOME" && value != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		fmt.Fprintf(c.err, "toolcrib: warning: the service does not get %s: write what it says into your configuration\n", text.ShowLine(strings.Join(names, ", ")))
	}
}

func (c *command) serviceNeeds() service.Needs {
	return service.Needs{GOOS: runtime.GOOS, Home: c.home(), User: subject(), UID: os.Getuid(), Getenv: c.getenv, Run: c.runSystem, Settle: 1500 * time.Millisecond}
}

// runSystem runs a program of the system outside of every sandbox, such as
// systemctl, and gives what it wrote.
func (c *command) runSystem(ctx context.Context, program string, args ...string) (string, error) {
	path, err := c.programs.Look(program)
	if err != nil {
		return "", err
	}
	const patience = time.Minute // systemctl restart waits for what ends
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = c.home() // not the project
	cmd.Env = append(slices.Clone(c.environ), "LC_ALL=C", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if said := strings.TrimSpace(string(exit.Stderr)); said != "" {
			err = fmt.Errorf("%s (%w)", text.ShowLine(strings.Join(strings.Fields(said), " ")), err)
		}
	}
	return string(out), err
}
