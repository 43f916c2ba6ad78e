package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/text"
)

func (c *command) policyUndoCmd() *cobra.Command {
	return &cobra.Command{
		Use: "undo", Short: "Take back what the last allow, ask or deny wrote",
		Long: `Take back the rules that the last 'toolcrib policy allow', 'ask' or 'deny' wrote,
and with a second undo those of the one before it. What else was changed in the
file since stays. If the line of a rule was changed, that rule stays too.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.policyUndo(cmd.Context()) },
	}
}

// policyChanged is one rule that was written, to be taken back.
type policyChanged struct {
	At   time.Time `json:"at"` // of the command: equal for all rules that one wrote
	File string    `json:"file"`
	Path []string  `json:"path"` // of the list
	Rule string    `json:"rule"`
	Line string    `json:"line"` // as it was written
	// Before is the file as it was, and After the digest of what was made of it: if it
	// is still that, every byte is given back. Missing: there was no file.
	Before  []byte `json:"before,omitempty"`
	After   string `json:"after"`
	Missing bool   `json:"missing,omitempty"`
}

// maxChanges is how many can be taken back.
const maxChanges = 50

// do writes the rule.
func (p *policyChanged) do() error {
	return rewrite.File(p.File, func(content []byte) ([]byte, error) {
		now, _, err := config.AddItem(content, p.Path, p.Rule)
		if err == nil && digest(now) != p.After {
			err = errors.New("it was changed by somebody else meanwhile, so it is left as it is: try again")
		}
		return now, err
	})
}

// errGone: the rule is not there any more.
var errGone = errors.New("it is not there any more: somebody took it out or changed it")

// undo takes it back.
func (p *policyChanged) undo() error {
	content, err := os.ReadFile(p.File)
	if errors.Is(err, os.ErrNotExist) {
		return errGone
	}
	if err != nil {
		return err
	}
	if p.Missing && digest(content) == p.After {
		return os.Remove(p.File)
	}
	return rewrite.File(p.File, func(content []byte) ([]byte, error) {
		if digest(content) == p.After {
			return p.Before, nil
		}
		at, there, err := config.HasItem(content, p.Path, p.Rule)
		switch {
		case err != nil:
			return nil, err
		case !there:
			return nil, errGone
		case strings.HasPrefix(strings.TrimSpace(p.Line), "- ") && strings.TrimSpace(at.Text) != strings.TrimSpace(p.Line):
			return nil, fmt.Errorf("line %d was changed since the rule was written, so it is left as it is: take it out by hand", at.Line)
		}
		now, _, err := config.RemoveItem(content, p.Path, p.Rule)
		return now, err
	})
}

// changePolicy changes the list of changes, and then does what belongs to it. Nobody
// else changes it meanwhile. Nil of a list: there is nothing to do.
func (c *command) changePolicy(state string, edit func([]policyChanged) ([]policyChanged, error), do func() error) (err error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	lock, err := durable.Lock(ctx, filepath.Join(state, "policy-changes.lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	was, err := readChanges(state)
	if err != nil {
		return err
	}
	now, err := edit(was)
	if err != nil || now == nil {
		return err
	}
	// Written first: what was done and is not on the list could not be taken back.
	if err := writeChanges(state, now[max(0, len(now)-maxChanges):]); err != nil {
		return err
	}
	if err := do(); err != nil {
		return errors.Join(err, writeChanges(state, was))
	}
	return nil
}

func changesFile(state string) string { return filepath.Join(state, "policy-changes.json") }

// changesName is what the list is sealed as: whoever could write it would write the
// person's configuration with the next undo.
const changesName = "policy-changes"

func readChanges(state string) ([]policyChanged, error) {
	box, err := seal.OfState(state, true)
	if err != nil {
		return nil, err
	}
	data, known, err := box.Read(changesName, func() ([]byte, error) { return os.ReadFile(changesFile(state)) })
	if errors.Is(err, seal.ErrUnknown) || errors.Is(err, seal.ErrBroken) {
		return []policyChanged{}, nil // nothing of it is believed, so that there is nothing to take back
	}
	if err != nil || !known {
		return []policyChanged{}, err
	}
	var list []policyChanged
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading which rules were written: %w", err)
	}
	return list, nil
}

func writeChanges(state string, list []policyChanged) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	box, err := seal.OfState(state, true)
	if err != nil {
		return err
	}
	return box.Write(changesName, data, func(sealed []byte) error { return durable.Replace(changesFile(state), sealed, 0o600) })
}

func (c *command) policyUndo(context.Context) error {
	paths, _, err := c.paths()
	if err != nil {
		return usage(err)
	}
	var taken []policyChanged
	left := 0
	for more := true; more; {
		var last policyChanged
		if last, left, more, err = c.undoRule(paths.State); err != nil {
			break
		}
		taken = append(taken, last)
	}
	if len(taken) > 0 {
		err = errors.Join(c.tellUndone(taken, left), err)
	}
	return err
}

// undoRule takes back the last rule that was written. more: the same command wrote the
// one before it too.
func (c *command) undoRule(state string) (last policyChanged, left int, more bool, err error) {
	gone := false
	err = c.changePolicy(state, func(list []policyChanged) ([]policyChanged, error) {
		if len(list) == 0 {
			return nil, &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "there is no rule to take back: 'toolcrib policy allow', 'ask' and 'deny' have written none since"}
		}
		last, left = list[len(list)-1], len(list)-1
		more = left > 0 && list[left-1].At.Equal(last.At)
		return list[:left:left], nil
	}, func() error {
		err := last.undo()
		gone = errors.Is(err, errGone)
		if gone || err == nil {
			return nil
		}
		return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: err.Error(), Err: err}
	})
	if err == nil && gone {
		err = &toolcrib.Error{Code: toolcrib.CodeConflict, Message: fmt.Sprintf("%s: %s in %s: %v. Nothing was changed; the next undo takes back what was written before it", last.File, last.Rule, strings.Join(last.Path, "."), errGone)}
	}
	return last, left, more, err
}

// tellUndone tells what one undo took back.
func (c *command) tellUndone(taken []policyChanged, left int) error {
	last := taken[0]
	if c.asJSON(false) {
		rules := make([]string, len(taken))
		for i := range taken {
			rules[i] = taken[i].Rule
		}
		return c.printJSON(map[string]any{"file": last.File, "key": strings.Join(last.Path, "."), "rule": last.Rule, "rules": rules, "written": last.At, "left": left})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Taken back from %s:\n", last.File)
	for i := range taken {
		fmt.Fprintf(&b, "  %s: %s (written %s)\n", strings.Join(taken[i].Path, "."), text.ShowLine(taken[i].Rule), taken[i].At.Local().Format(time.DateTime))
	}
	said := "There is nothing more to take back."
	if left > 0 {
		said = counted(left, "rule") + " can still be taken back."
	}
	_, err := fmt.Fprintf(c.out, "%sA running server goes by it within about a second. %s\n", b.String(), said)
	return err
}
