package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/service"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// newSetup gives a setup what only the whole program can do.
func (c *command) newSetup(ctx context.Context) (*setup.Setup, error) {
	loaded, paths, err := c.load()
	if err != nil {
		return nil, err
	}
	looks, err := app.LooksSecret()
	if err != nil {
		return nil, err
	}
	entry, err := c.connectEntry(connecting{})
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(c.settings(paths))
	if err != nil {
		return nil, err
	}
	s := &setup.Setup{
		Machine: c.machine(), State: paths.State, Settings: file, VaultDir: app.VaultDir(paths.State),
		Entry: entry, OwnURL: serverURL(loaded.Value.Serve), Looks: looks, Check: app.CheckServerName,
		Servers: func() (map[string]settings.MCPServer, error) {
			c.loaded = nil // it may have been changed by a step before
			loaded, _, err := c.load()
			if err != nil {
				return nil, err
			}
			return loaded.User.MCPServers, nil
		},
		Vault:    func() (*vault.Vault, error) { return c.openVault(nil) },
		Answered: c.setupAnswered, Trial: c.setupTrial, Unpassed: c.setupUnpassed,
		Forget: func(ctx context.Context, names []string) error {
			c.loaded = nil
			return c.forget(ctx, names)
		},
		Service: c.setupService(ctx),
	}
	key := loaded.Value.Vault.Key
	if given, _ := c.lookupEnv(key.Variable()); given == "" && (key.From == "" || key.From == "auto") {
		s.KeyDir, s.Keyring = c.keyDir(key), tryKeyring
	}
	return s, nil
}

// tryKeyring waits for no dialogue: one that nobody answers is no keyring.
func tryKeyring(ctx context.Context) error {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return vault.TryKeyring(ctx)
}

// setupService is the server at log-in, where this system has services.
func (c *command) setupService(ctx context.Context) setup.Service {
	u, err := c.serviceUnit("serve")
	if err != nil {
		return setup.Service{}
	}
	d, err := service.Install(ctx, c.serviceNeeds(), u, true)
	out := setup.Service{
		Remove: func(ctx context.Context) error {
			_, err := service.Remove(ctx, c.serviceNeeds(), u.Name, false)
			if errors.Is(err, service.ErrNotHere) {
				return nil
			}
			return err
		},
	}
	if err != nil || !d.Changed {
		return out // there is none here, or a person wrote one
	}
	out.What = "Write " + d.File + " and start 'toolcrib serve' at every log-in."
	out.Install = func(ctx context.Context) ([]string, error) {
		d, err := service.Install(ctx, c.serviceNeeds(), u, false)
		notes := d.Notes
		for _, line := range d.Run {
			notes = append(notes, "to start it: "+line)
		}
		return notes, err
	}
	return out
}
