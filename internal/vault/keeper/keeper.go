// Package keeper is the vault as calls have it: it finds the key, hands tools the
// secrets that they were granted, knows every value so that it can be taken out of
// what is shown and kept, and sees to it that nothing is kept while the vault is
// locked. It never asks a person for the sake of a text. The wiring in
// internal/app imports it.
package keeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Source is where this process finds a key: its variables, and a person.
type Source struct {
	Env func(name string) (string, bool)                      // nil: no variable is set
	Ask func(ctx context.Context, fresh bool) (string, error) // for a passphrase; nil: nobody is there
	// Programs finds the command that gives a key; Dir is where relative names in
	// it begin. Without Dir it is taken as it stands.
	Programs hostpath.Finder
	Dir      string
}

// Dir is where the secrets lie.
func Dir(state string) string { return filepath.Join(state, "vault") }

// OpenVault makes the vault of a configuration. It reads nothing yet and asks
// nobody: the first use does.
func OpenVault(cfg settings.Vault, state string, from Source) (*vault.Vault, error) {
	if err := checkVault(cfg); err != nil {
		return nil, err
	}
	if cfg.Key.From == "command" && from.Dir != "" {
		// It does not run in the project, whose files it might obey.
		argv := reach.Outside{Dir: from.Dir}.Absolute(cfg.Key.Command[0], cfg.Key.Command[1:], from.Dir)
		name := cfg.Key.Command[0]
		if path, err := from.Programs.Look(name); err == nil {
			name = path
		} else if errors.Is(err, hostpath.ErrWritable) {
			return nil, fmt.Errorf("vault.key.command: %w", err)
		}
		if !filepath.IsAbs(name) && strings.ContainsAny(name, `/\`) {
			name = filepath.Join(from.Dir, name)
		}
		cfg.Key.Command = append([]string{name}, argv...)
	}
	cfg.Key.Dir = cmp.Or(cfg.Key.Dir, vault.KeyDir(state))
	keys, err := cfg.Key.Keys(from.env(), from.ask())
	if err != nil {
		return nil, fmt.Errorf("vault.key: %w", err)
	}
	return vault.Open(vault.Config{Dir: Dir(state)}, keys)
}

func (s Source) env() func(string) (string, bool) {
	if s.Env != nil {
		return s.Env
	}
	return func(string) (string, bool) { return "", false }
}

func (s Source) ask() func(context.Context, bool) (string, error) {
	if s.Ask != nil {
		return s.Ask
	}
	return func(context.Context, bool) (string, error) {
		return "", errors.New("it is a passphrase, and nobody is there to be asked for it")
	}
}

// checkVault finds what reads well and makes no sense.
func checkVault(c settings.Vault) error {
	// Other variables of ours are settings: a key in one of them would be read,
	// and complained about, as what it is not.
	if name := c.Key.Env; name != "" && name != vault.DefaultEnv &&
		(!regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) || strings.HasPrefix(strings.ToUpper(name), "TOOLCRIB_")) {
		return fmt.Errorf("vault.key.env: %q cannot be the variable of the key: take %s, or a name that does not begin with TOOLCRIB_", name, vault.DefaultEnv)
	}
	if _, err := c.Key.Keys(Source{}.env(), Source{}.ask()); err != nil {
		return fmt.Errorf("vault.key: %w", err)
	}
	for _, who := range slices.Sorted(maps.Keys(c.Grants)) {
		box, tool, one := strings.Cut(who, "/")
		if box == "" || one && tool == "" || strings.ContainsAny(who, "*?[") {
			return fmt.Errorf("vault.grants: %q is neither a box nor box/tool", who)
		}
		for _, name := range c.Grants[who] {
			if err := vault.CheckName(name); err != nil && name != "*" {
				return fmt.Errorf("vault.grants.%s: %w", who, err)
			}
		}
	}
	return nil
}

// Keeper is the vault as calls have it.
type Keeper struct {
	vault *vault.Vault
	guard *safety.SecretGrant
	log   *slog.Logger
	now   func() time.Time

	dir      string // of the store
	settings settings.Vault
	from     Source

	mu     sync.Mutex
	file   os.FileInfo // the store as it was when the values were read; nil: there was none
	until  time.Time   // so long the values hold if the store looks the same
	looked time.Time   // when it was last looked at
	stamp  vault.Stamp
	values []string
	also   []string // not of the vault, and hidden as its values are
	set    *secrets.Known
	setOf  vault.Stamp
	shut   error     // why the values cannot be read, although there are some
	told   bool      // that this was said
	retry  time.Time // not before, unless the store looks different
	bad    os.FileInfo
}

// Open gives a crib its secrets: the handle, the most that tools get, and
// the guard that leaves each its own. The crib's other guards are there by then.
func Open(crib *toolcrib.Crib, cfg settings.Vault, state string, from Source) (*Keeper, error) {
	v, err := OpenVault(cfg, state, from)
	if err != nil {
		return nil, err
	}
	k := &Keeper{vault: v, dir: Dir(state), settings: cfg, from: from, guard: &safety.SecretGrant{Names: cfg.Grants, Whole: &crib.Grant}, log: cmp.Or(crib.Log, slog.Default()), now: time.Now}
	crib.Secret, crib.Grant.Secrets = k.lookup, k.guard.All()
	if len(crib.Grant.Secrets) > 0 {
		crib.Guards = append(crib.Guards, k.guard)
	}
	return k, nil
}

// lookup is [toolcrib.Crib.Secret]. The names are held to the grant of the tool
// once more, so that a crib without the guard hands out nothing.
func (k *Keeper) lookup(ctx context.Context, call toolcrib.Call, tool toolcrib.Entry, name string) (string, error) {
	from := vault.Scope{Organisation: call.Caller.Organisation, Subject: call.Caller.Subject, Tool: tool.Box + "/" + tool.Native}
	value, err := k.vault.Granted(from, k.guard.Granted(tool.Box, tool.Native))(ctx, name)
	if err != nil {
		return "", refusedSecret(call.Tool, err)
	}
	k.opened()
	return value, nil
}

// ForTool gives a tool a secret that the person's own file names for it: her word as
// much as vault.grants is. Whose it is goes by who calls, as for every tool.
func (k *Keeper) ForTool(ctx context.Context, call toolcrib.Call, box, tool, name string) (string, error) {
	if k == nil {
		return "", &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "the vault is not opened here"}
	}
	from := vault.Scope{Organisation: call.Caller.Organisation, Subject: call.Caller.Subject, Tool: box + "/" + tool}
	value, err := k.vault.Granted(from, []string{name})(ctx, name)
	if err != nil {
		return "", refusedSecret(call.Tool, err)
	}
	k.opened()
	return value, nil
}

// opened: somebody got in, so that the values can be read now.
func (k *Keeper) opened() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.retry = time.Time{}
}

// refusedSecret says to a model what it may know of an error of the vault.
func refusedSecret(tool string, err error) error {
	e := &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: tool, Err: err}
	switch {
	case errors.Is(err, vault.ErrNotGranted):
		e.Code, e.Message = toolcrib.CodeDenied, "the secret was not granted to this tool"
	case errors.Is(err, vault.ErrNotFound):
		e.Message = "a secret that this tool needs is not there for this caller; a person has to set it (toolcrib secret set)"
	case errors.Is(err, vault.ErrInvalid):
		e.Code, e.Message = toolcrib.CodeInvalid, "this cannot be the name of a secret, or this caller cannot have any"
	default:
		e.Message = "the secrets cannot be read; a person has to see to it (toolcrib doctor): " + Unlock(err)
	}
	return e
}

// Expand puts secrets in place of the references in a setting that a person
// wrote: for it, every secret without a scope is there.
func (k *Keeper) Expand(ctx context.Context, text string) (string, error) {
	return vault.Expand(ctx, text, k.secrets())
}

// Setting is expand for a setting that may have variables in it too.
func (k *Keeper) Setting(ctx context.Context, text string) (string, error) {
	return settings.Expand(ctx, text, os.LookupEnv, k.secrets())
}

func (k *Keeper) secrets() func(ctx context.Context, name string) (string, error) {
	if k == nil {
		return func(context.Context, string) (string, error) {
			return "", errors.New("the vault is not opened to list tools")
		}
	}
	return k.vault.Granted(vault.Scope{}, []string{"*"})
}

const (
	// knownWait is how long a call waits for the values that are to be taken
	// out of its result, and knownRest the time between two tries that failed:
	// a keyring may stand at a dialogue that nobody answers.
	knownWait = 2 * time.Second
	knownRest = 30 * time.Second
	// knownHold is how long values are taken for the current ones because the
	// store looks as it did: a call asks for them several times, and reading it
	// each time was a third of what a call cost.
	knownHold = 3 * time.Second
	// knownMoment is how long one look at the store counts.
	knownMoment = 10 * time.Millisecond
)

// known gives every value in the vault, the longest first, and the stamp of
// this state: as long as that is the same, so are they. It is for redaction and
// must not stop a call. It asks no person, and if the key is not to be had it
// says so once in the log, keeps why for [Keeper.locked], and gives what it knew
// before. The list is not to be changed.
func (k *Keeper) known(ctx context.Context) ([]string, vault.Stamp) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now().Before(k.retry) && sameStore(k.bad, k.look()) {
		return k.values, k.stamp
	}
	// A call asks several times within a moment: one look is for all of them.
	if now := k.now(); now.Before(k.until) && now.Sub(k.looked) < knownMoment && now.After(k.looked) {
		return k.values, k.stamp
	}
	// Looked at before it is read, so that what changes in between is noticed.
	k.looked = k.now()
	file := k.look()
	if k.now().Before(k.until) && sameStore(k.file, file) {
		return k.values, k.stamp
	}
	bound, cancel := context.WithTimeout(ctx, knownWait)
	defer cancel()
	found, stamp, err := k.vault.Known(bound)
	switch {
	case err != nil && ctx.Err() != nil: // the call is over; that says nothing
	case err != nil:
		k.until, k.shut, k.bad = time.Time{}, err, file
		k.retry = k.now().Add(knownRest)
		if !k.told {
			k.told = true
			k.log.Warn("the vault cannot be read: calls are recorded without their texts, tools get no secrets, and nobody is asked", "err", err, "fix", Unlock(err))
		}
	default:
		k.shut, k.told = nil, false
		k.file, k.until = file, k.now().Add(knownHold)
		if stamp == k.stamp {
			break
		}
		k.values, k.stamp = nil, stamp
		for ref, value := range found {
			k.values = append(k.values, value)
			k.values = append(k.values, loginSecrets(ref.Name, value)...)
		}
		slices.SortFunc(k.values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		k.values = slices.Compact(k.values)
	}
	return k.values, k.stamp
}

// look tells what the store looks like from outside. It is replaced as a whole
// when it is written, so that it is another file then.
func (k *Keeper) look() os.FileInfo {
	info, err := os.Lstat(filepath.Join(k.dir, "secrets"))
	if err != nil {
		return nil
	}
	return info
}

func sameStore(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// Redaction gives the values in the form that redaction takes. It is made anew
// when they have changed.
func (k *Keeper) Redaction() *secrets.Known {
	values, stamp := k.known(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set == nil || k.setOf != stamp {
		k.set, k.setOf = secrets.NewKnown(slices.Concat(values, k.also)), stamp
	}
	return k.set
}

// HideAlso has more values taken out of what is shown and kept. No vault is needed
// for it.
func (k *Keeper) HideAlso(values []string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.also, k.set = append(k.also, values...), nil
}

// Hide takes every value in the vault out of a JSON text, and nothing else. False:
// the vault is locked, so that they are not known.
func (k *Keeper) Hide(text json.RawMessage) (json.RawMessage, bool) {
	known := k.Redaction()
	if len(text) == 0 {
		return text, k.Locked() == nil
	}
	return known.Redact(text), k.Locked() == nil
}

// Hiding is a word that changes when there may be other values in the vault. It
// looks at the store from outside, which costs next to nothing.
func (k *Keeper) Hiding() string {
	info := k.look()
	if info == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d-%d", info.ModTime().UnixNano(), info.Size())
}

// Strangers finds grants for boxes that nobody has.
func Strangers(c settings.Vault, boxes []toolcrib.Toolbox) []toolcrib.LoadError {
	var faults []toolcrib.LoadError
	for _, who := range slices.Sorted(maps.Keys(c.Grants)) {
		name, _, _ := strings.Cut(who, "/")
		if !slices.ContainsFunc(boxes, func(b toolcrib.Toolbox) bool { return b.Name() == name }) {
			faults = append(faults, toolcrib.LoadError{Tool: who, Err: errors.New("vault.grants has secrets for it, but there is no such box")})
		}
	}
	return faults
}
