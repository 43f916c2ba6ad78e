package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// This file is about a vault that has entries and cannot be opened. What its
// values are is then not known, so they cannot be taken out of anything:
//
//   - tools and servers that use a secret get none, and say why;
//   - the journal has calls without their texts;
//   - what is cut from results is not kept;
//   - a person is not asked, since the question would be kept with its texts.
//
// Results still go to the model, without what the rules of the scanner find.

// Locked says why the vault cannot be opened, although there are values in it.
// Nil: they are known, or there are none.
func (k *Keeper) Locked() error {
	k.known(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shut
}

// Unlock tells the person how a vault is opened that said no with this error.
func Unlock(err error) string {
	switch {
	case errors.Is(err, vault.ErrUnsaid):
		return "say the passphrase: 'toolcrib secret list' asks for it in a terminal; for servers keep a key in the keyring or in a variable instead (vault.key)"
	case errors.Is(err, vault.ErrKey):
		return "give it the key it was closed with: the variable, keyring or command that vault.key names; 'toolcrib secret list' tries it and says more"
	case errors.Is(err, vault.ErrDamaged):
		return "put back a copy of the vault's file, or move it away and set the secrets again (toolcrib secret set)"
	case errors.Is(err, vault.ErrUnsafe):
		return "close the vault's directory and files to other users, after a look at who could get at them"
	}
	return "'toolcrib secret list' tries to open it and says more"
}

// State tells how many values there are, and why they cannot be read if that is
// so. It asks nobody.
func (k *Keeper) State(ctx context.Context) (values int, locked error) {
	if k == nil {
		return 0, nil
	}
	if locked := k.Locked(); locked != nil {
		return 0, locked
	}
	all, _ := k.known(ctx)
	return len(all), nil
}

// sealedJournal keeps the texts of calls out of the journal while the vault is
// locked. A call that began so ends so: its texts were looked over meanwhile.
type sealedJournal struct {
	*store.Journal
	locked func() error
	known  func(caller toolcrib.Caller, tool string) bool // there is a tool of this name

	mu      sync.Mutex
	without map[*toolcrib.Record]string // begun so, by the name that was recorded
}

// Digest names texts, see [toolcrib.Journal]: a call ID of an earlier process is
// answered by the key that the journal keeps.
func (j *sealedJournal) Digest(text []byte) string { return j.Journal.Digest(text) }

// Journal is a journal with the vault before it. known reports whether there is a
// tool of a name.
func (k *Keeper) Journal(of *store.Journal, known func(caller toolcrib.Caller, tool string) bool) toolcrib.Journal {
	return &sealedJournal{Journal: of, locked: k.Locked, without: map[*toolcrib.Record]string{}, known: known}
}

// Begin implements [toolcrib.Journal].
func (j *sealedJournal) Begin(ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	if j.locked() == nil {
		return j.Journal.Begin(ctx, r)
	}
	if !noSecret(r.ID) {
		return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "the vault is locked, so that a secret in the call ID could not be told; leave the ID out, take one of fewer than 8 characters, or open the vault"}
	}
	bare := withoutTexts(r)
	if !j.known(r.Caller, r.Tool) { // it can be anything
		bare.Tool = unkept
	}
	old, err := j.Journal.Begin(ctx, bare)
	r.Seq = bare.Seq
	if err == nil && old == nil {
		j.mu.Lock()
		j.without[r] = bare.Tool
		j.mu.Unlock()
	}
	return old, err
}

// End implements [toolcrib.Journal].
func (j *sealedJournal) End(ctx context.Context, r *toolcrib.Record) error {
	j.mu.Lock()
	tool, begun := j.without[r]
	delete(j.without, r)
	j.mu.Unlock()
	if !begun && j.locked() == nil {
		return j.Journal.End(ctx, r)
	}
	kept := withoutTexts(r)
	if begun {
		kept.Tool = tool
	}
	err := j.Journal.End(ctx, kept)
	r.Seq = kept.Seq
	return err
}

// noSecret reports whether a call ID can be kept although nobody knows what the
// vault has: it is too short for a secret, or has the form of one that
// [callid.New] or the bus made.
func noSecret(id string) bool {
	if len(id) < 8 {
		return true
	}
	if hash, ok := strings.CutPrefix(id, "ovos-"); ok && len(hash) == 40 && strings.Trim(hash, "0123456789abcdef") == "" {
		return true
	}
	return len(id) == 36 && id[8] == '-' && id[13] == '-' && id[14] == '7' && id[18] == '-' && id[23] == '-' && strings.Trim(id, "0123456789abcdef-") == ""
}

// unkept stands where a text would be.
const unkept = "(not recorded: the vault is locked)"

// withoutTexts is a record with names, codes and sizes alone.
func withoutTexts(r *toolcrib.Record) *toolcrib.Record {
	own := *r
	own.Input, own.Edited = sizeOnly(r.Input), sizeOnly(r.Edited)
	if r.Result != nil {
		own.Result, own.Cut = nil, true
	}
	if r.Message != "" {
		own.Message = unkept
	}
	own.Verdicts = append([]toolcrib.Verdict(nil), r.Verdicts...)
	for i := range own.Verdicts {
		if own.Verdicts[i].Reason != "" {
			own.Verdicts[i].Reason = unkept
		}
	}
	return &own
}

func sizeOnly(text json.RawMessage) json.RawMessage {
	if text == nil {
		return nil
	}
	return fmt.Appendf(nil, `{"unrecorded":{"bytes":%d}}`, len(text))
}

// sealedDesk asks nobody while the vault is locked. A person who can be asked
// for the passphrase is asked for that first.
type sealedDesk struct {
	toolcrib.Approver
	keeper *Keeper
}

// Approver is an approver with the vault before it.
func (k *Keeper) Approver(of toolcrib.Approver) toolcrib.Approver { return sealedDesk{of, k} }

// Approve implements [toolcrib.Approver].
func (d sealedDesk) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	err := d.keeper.Locked()
	if errors.Is(err, vault.ErrUnsaid) {
		if _, opened := d.keeper.vault.Stamp(ctx); opened == nil {
			d.keeper.opened()
			err = d.keeper.Locked()
		}
	}
	if err != nil {
		return toolcrib.Answer{}, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Err: errors.Join(toolcrib.ErrNobody, err),
			Message: "a person has to be asked, but the vault is locked, so that secrets in the question could not be hidden; " + Unlock(err)}
	}
	return d.Approver.Approve(ctx, q)
}

// Desk gives the desk that asks, to those who show its questions: nil if
// another one is asked.
func (d sealedDesk) Desk() *desk.Desk {
	own, _ := d.Approver.(*desk.Desk)
	return own
}
