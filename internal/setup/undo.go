package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	shown "github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Undone is what became of a setup that was taken back.
type Undone struct {
	// Whole are files that have their bytes again, Removed those that setup had made, and
	// Edited those that somebody changed since: only what setup had done was taken out.
	Whole, Removed, Edited []string
	Kept                   []string // what stays, and why
	Secrets, Servers       int
}

// Undo takes back what setup did. What fails stays in the record, so that it can be
// tried again.
func (s *Setup) Undo(ctx context.Context) (*Undone, error) {
	b, err := openBook(ctx, s.State, true)
	if err != nil {
		return nil, err
	}
	b.at = s.at
	defer b.close() //nolint:errcheck // the lock ends with it
	if b.empty() {
		return nil, ErrNothing
	}
	u := &Undone{}
	var errs []error
	if b.Service && s.Service.Remove != nil {
		if err := s.Service.Remove(ctx); err != nil {
			errs = append(errs, fmt.Errorf("the service: %w", err))
		} else {
			b.Service = false
		}
	}
	for i, f := range slices.Backward(b.Files) { // the newest first
		if err := s.undoFile(b, f, u); err != nil {
			errs = append(errs, err)
			continue
		}
		b.Files = slices.Delete(slices.Clone(b.Files), i, i+1)
		if err := b.save(); err != nil {
			return u, errors.Join(append(errs, err)...)
		}
	}
	if err := s.undoVault(ctx, b, u); err != nil {
		errs = append(errs, err)
	}
	if err := s.undoServers(ctx, b, u); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return u, errors.Join(append(errs, b.save())...)
	}
	return u, b.drop()
}

// ErrNothing: there is no setup to take back.
var ErrNothing = errors.New("there is no setup to take back")

// undoFile gives a file its bytes again, or takes out of it what setup did.
func (s *Setup) undoFile(b *book, f *fileRecord, u *Undone) error {
	if err := os.Remove(rewrite.Beside(f.Path, besideEnding)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text, err := os.ReadFile(f.Path)
	there := err == nil
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	b.reached("undo " + f.Path)
	switch {
	case f.has(text, there) && f.Missing:
		if there {
			if err := os.Remove(f.Path); err != nil {
				return err
			}
		}
		u.Removed = append(u.Removed, f.Path)
		for _, dir := range slices.Backward(f.Dirs) {
			_ = os.Remove(dir) // what is not empty is somebody's
		}
		return nil
	case f.has(text, there):
		if string(text) != string(f.Before) {
			if err := s.putBytes(f, text); err != nil {
				return err
			}
		}
		u.Whole = append(u.Whole, f.Path)
		return nil
	case !there:
		return s.stays(b, f, u, "it was removed since, and stays so")
	}
	changed, lost := false, ""
	err = rewrite.Recorded(f.Path, besideEnding, func(now []byte, _ bool) ([]byte, error) {
		out := now
		for _, e := range slices.Backward(f.Edits) {
			next, kept, err := s.reverse(e, out, f.Before)
			if err != nil {
				return nil, err
			}
			switch {
			case kept != "" && e.Kind == editTakeOut:
				lost = kept
			case kept != "":
				u.Kept = append(u.Kept, f.Path+": "+kept)
			}
			out = next
		}
		changed = string(out) != string(now)
		return out, nil
	})
	if err != nil {
		return fmt.Errorf("%s was changed since, and what setup did cannot be taken out of it: %w; how it was before is in %s", f.Path, err, b.file())
	}
	if changed {
		u.Edited = append(u.Edited, f.Path)
	}
	if lost != "" {
		return s.stays(b, f, u, lost)
	}
	return nil
}

// putBytes writes the file as it was, unless somebody is writing it just now.
func (s *Setup) putBytes(f *fileRecord, text []byte) error {
	return rewrite.Recorded(f.Path, besideEnding, func(now []byte, _ bool) ([]byte, error) {
		if string(now) != string(text) {
			return nil, errors.New("it is being changed by somebody else: try again")
		}
		return f.Before, nil
	})
}

// reverse takes one edit back. Kept says what was changed since and stays.
func (s *Setup) reverse(e edit, text, before []byte) (out []byte, kept string, err error) {
	codec := s.Codec()
	switch e.Kind {
	case editConnect:
		if t, ok := s.server(e.Client, text, clientfiles.Held{Name: Name}); ok && !s.IsOurs(t) && !s.isThis(t) {
			return text, "toolcrib was changed since, and stays", nil
		}
		if out, err = codec.TakeOut(e.Client, text, clientfiles.Held{Name: Name}); err == nil && e.Was {
			out, err = codec.PutBack(e.Client, out, before, clientfiles.Held{Name: Name})
		}
	case editTakeOut:
		was, _ := s.server(e.Client, before, e.Held)
		if now, there := s.server(e.Client, text, e.Held); there && !reflect.DeepEqual(was, now) {
			return text, shown.ShowLine(e.Held.Name) + " is there again as another server, which stays", nil
		}
		out, err = codec.PutBack(e.Client, text, before, e.Held)
	case editHooks:
		out, err = clientfiles.RemoveHooks(e.Client, text)
	case editServer:
		return s.reverseServer(e, text)
	case editRule:
		out, _, err = config.RemoveItem(text, e.Path, e.Text)
	default:
		err = fmt.Errorf("the record has an edit of the kind %q, which this version does not know", e.Kind)
	}
	return out, "", err
}

// reverseServer takes a server out of the settings, unless a person changed it.
func (s *Setup) reverseServer(e edit, text []byte) ([]byte, string, error) {
	entry, there, err := config.Entry(text, "mcp_servers", e.Text)
	if err != nil || !there {
		return text, "", err
	}
	var was any
	if json.Unmarshal(e.Entry, &was) == nil && !reflect.DeepEqual(was, entry) {
		return text, "the server " + e.Text + " was changed since, and stays", nil
	}
	out, _, err := config.RemoveEntry(text, "mcp_servers", e.Text)
	return out, "", err
}

// undoVault removes the secrets that nothing refers to any more, and a key that was made
// for a vault in which nothing is left.
func (s *Setup) undoVault(ctx context.Context, b *book, u *Undone) error {
	if len(b.Secrets) == 0 && b.KeyDir == "" {
		return nil
	}
	v, err := s.Vault()
	if err != nil {
		return err
	}
	now, err := os.ReadFile(s.Settings)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if there, err := v.Exists(); err != nil || !there {
		b.Secrets = nil
		if err != nil {
			return err
		}
	}
	for len(b.Secrets) > 0 {
		ref := b.Secrets[len(b.Secrets)-1]
		value, err := v.Get(ctx, ref.Ref)
		switch {
		case errors.Is(err, vault.ErrNotFound):
		case err != nil:
			return err
		case strings.Contains(string(now), "${secret:"+ref.Name+"}"):
			u.Kept = append(u.Kept, fmt.Sprintf("the secret %s: your settings still refer to it", ref.Name))
		case b.box.Digest(recordName, ref.Name, value) != ref.Digest:
			u.Kept = append(u.Kept, fmt.Sprintf("the secret %s: it was changed since", ref.Name))
		default:
			if err := v.Remove(ctx, ref.Ref); err != nil {
				return err
			}
			u.Secrets++
		}
		b.Secrets = b.Secrets[:len(b.Secrets)-1]
		b.reached("undo secret")
	}
	if err := b.save(); err != nil {
		return err
	}
	return s.undoKey(ctx, b, v, u)
}

// undoKey removes the file of a key that setup made, with the vault, if nothing is in it.
func (s *Setup) undoKey(ctx context.Context, b *book, v *vault.Vault, u *Undone) error {
	if b.KeyDir == "" {
		return nil
	}
	there, err := v.Exists()
	if err != nil {
		return err
	}
	if there {
		left, err := v.List(ctx)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			u.Kept = append(u.Kept, fmt.Sprintf("the key in %s: the vault has %d other secrets", b.KeyDir, len(left)))
			b.KeyDir = ""
			return b.save()
		}
		if err := os.RemoveAll(s.VaultDir); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(b.KeyDir); err != nil {
		return err
	}
	u.Removed = append(u.Removed, filepath.Clean(b.KeyDir))
	b.KeyDir = ""
	return nil
}

// undoServers forgets what was kept of servers that are not in the settings any more.
func (s *Setup) undoServers(ctx context.Context, b *book, u *Undone) error {
	if len(b.Servers) == 0 {
		return nil
	}
	now, err := os.ReadFile(s.Settings)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var gone []string
	for _, name := range b.Servers {
		if _, there, err := config.Entry(now, "mcp_servers", name); err == nil && !there {
			gone = append(gone, name)
		}
	}
	if err := s.Forget(ctx, gone); err != nil {
		return err
	}
	u.Servers, b.Servers = len(gone), nil
	return nil
}
