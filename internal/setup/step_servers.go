package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// own are the servers in the person's own files, those for other projects too: a client
// started there would reach them round Toolcrib.
func (s *Setup) own() []Taken {
	list := slices.DeleteFunc(slices.Clone(s.survey.Servers), func(t Taken) bool { return t.Project })
	return append(list, s.survey.Elsewhere...)
}

// named gives the servers of the person's own files the names they have here.
func (s *Setup) named(ctx context.Context) (list []Taken, same []Same, err error) {
	there, err := s.Servers()
	if err != nil {
		return nil, nil, err
	}
	v, err := s.Vault()
	if err != nil {
		return nil, nil, err
	}
	fits := func(t Taken, name string) bool {
		have := there[name]
		return maps.Equal(have.Env, t.Server.Env) && maps.Equal(have.Headers, t.Server.Headers) && !otherSecrets(ctx, v, t.Secrets)
	}
	list, same = Naming{Looks: s.Looks, Check: s.Check, There: there, Fits: fits}.Name(s.own())
	return list, same, nil
}

// otherSecrets reports whether the vault has another value for one of these. Where it
// has none, or cannot be opened, that is not known.
func otherSecrets(ctx context.Context, v *vault.Vault, list []clientfiles.Found) bool {
	return slices.ContainsFunc(list, func(f clientfiles.Found) bool {
		value, err := v.Get(ctx, vault.Ref{Name: f.Name})
		return err == nil && value != f.Value
	})
}

// lookKey finds out whether a key for the vault is to be had. It is looked for only if
// there is something to keep.
func (s *Setup) lookKey(ctx context.Context, b *book) (plan, error) {
	if s.KeyDir == "" || vault.HasFiles(s.KeyDir) {
		return plan{}, nil
	}
	list, _, err := s.named(ctx)
	if err != nil {
		return plan{}, err
	}
	keep, _ := s.credentials()
	if len(keep) == 0 && !slices.ContainsFunc(list, func(t Taken) bool { return len(t.Secrets) > 0 }) {
		return plan{}, nil
	}
	v, err := s.Vault()
	if err != nil {
		return plan{}, err
	}
	if there, err := v.Exists(); err != nil || there {
		return plan{}, err
	}
	if s.Keyring(ctx) == nil {
		return plan{}, nil
	}
	return plan{
		found: []string{"Secrets in your clients' files go to the vault, where Toolcrib keeps them encrypted. The vault needs a key, and this machine has no keyring to keep one."},
		would: []string{fmt.Sprintf("Make a key and keep it in %s, in a file that only your account can read (mode 0600). Keep a copy with your passwords: without it the vault cannot be opened.", s.KeyDir)},
		ask:   "Keep the key in a file?", yes: true,
		do: func(context.Context) (done, warn []string, err error) {
			b.KeyDir = s.KeyDir
			if err := b.save(); err != nil {
				return nil, nil, err
			}
			b.reached(s.KeyDir)
			if err := vault.MakeFiles(s.KeyDir); err != nil {
				return nil, nil, err
			}
			return []string{"The key of the vault is kept in " + s.KeyDir + "."}, nil, nil
		},
	}, nil
}

// lookServers finds the servers that are not here yet.
func (s *Setup) lookServers(ctx context.Context, b *book) (plan, error) {
	list, same, err := s.named(ctx)
	if err != nil {
		return plan{}, err
	}
	p := plan{yes: true}
	s.coverSame(ctx, same)
	for _, l := range s.survey.Left {
		if !l.Skipped {
			p.warn = append(p.warn, fmt.Sprintf("not read: %s: %s", l.File, l.Text))
		}
	}
	if len(list)+len(same) > 0 {
		p.found = append(p.found, s.serversFound(list, same))
	}
	if len(list) == 0 {
		return p, nil
	}
	secrets := 0
	for _, t := range list {
		p.would = append(p.would, takenLine(t))
		secrets += len(t.Secrets)
	}
	if s.Dry { // the steps after this one say what they would do then
		for _, t := range list {
			if !t.Server.Disabled {
				s.soon = append(s.soon, t.Name)
			}
			for _, at := range append([]Taken{t}, t.also...) {
				s.cover(at, t.Name)
			}
		}
	}
	p.ask = fmt.Sprintf("Take over %s, and keep %s in the vault?", counted(len(list), "server"), counted(secrets, "secret"))
	p.do = func(ctx context.Context) (done, warn []string, err error) { return s.takeOver(ctx, b, list) }
	return p, nil
}

func (s *Setup) serversFound(list []Taken, same []Same) string {
	clients := map[string]int{}
	for _, t := range s.own() {
		clients[clientfiles.Title(t.Server.Source)]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, clients[name]))
	}
	line := fmt.Sprintf("%s in your own files (%s)", counted(len(s.own()), "server"), strings.Join(parts, ", "))
	if len(same) > 0 {
		line += fmt.Sprintf("; %d of them Toolcrib has already", len(same))
	}
	return line + "."
}

// takenLine shows a server in one line: what will run, and what goes to the vault.
func takenLine(t Taken) string {
	what := t.Server.URL
	if t.Server.Command != "" {
		what = strings.Join(append([]string{t.Server.Command}, t.Server.Args...), " ")
	}
	line := fmt.Sprintf("%s: %s", t.Name, text.ClipRunes(text.ShowLine(what), 90))
	var notes []string
	if len(t.Secrets) > 0 {
		notes = append(notes, counted(len(t.Secrets), "secret"))
	}
	if t.Server.Disabled {
		notes = append(notes, "switched off, and stays so")
	}
	if t.Server.Project != "" {
		notes = append(notes, "your client has it for "+text.ShowLine(t.Server.Project)+" only; Toolcrib offers it everywhere")
	}
	if len(notes) > 0 {
		line += " (" + strings.Join(notes, "; ") + ")"
	}
	return line
}

// coverSame notes which servers Toolcrib has already. One whose secrets are not in the vault
// would be lost, so it is not among them.
func (s *Setup) coverSame(ctx context.Context, same []Same) {
	v, err := s.Vault()
	if err != nil {
		return
	}
	for _, t := range same {
		missing := slices.ContainsFunc(t.Secrets, func(f clientfiles.Found) bool {
			value, err := v.Get(ctx, vault.Ref{Name: f.Name})
			return err != nil || value != f.Value
		})
		if missing {
			s.why[spotOf(t.Taken)] = fmt.Sprintf("Toolcrib has a server %s, but not the secrets of this one", t.Name)
			continue
		}
		s.cover(t.Taken, t.Name)
	}
}

// takeOver writes the servers into the settings and their secrets into the vault. One
// whose secret cannot be kept does not lose the others.
func (s *Setup) takeOver(ctx context.Context, b *book, list []Taken) (done, warn []string, err error) {
	v, err := s.Vault()
	if err != nil {
		return nil, nil, err
	}
	leave := func(t Taken, why string) {
		warn = append(warn, fmt.Sprintf("left out: %s: %s", t.Name, why))
		for _, at := range append([]Taken{t}, t.also...) {
			s.why[spotOf(at)] = why
		}
	}
	var values map[string]string
	var checked []Taken
	for {
		left := map[string]bool{}
		checked, values, err = CheckSecrets(ctx, v, list, func(t Taken, secret string) {
			left[t.Name] = true
			leave(t, "it refers to the secret "+text.ShowLine(secret)+", which is not its own; if it may have it, add it by hand (toolcrib hub add)")
		})
		clash, ok := errors.AsType[*Clash](err)
		if !ok {
			break
		}
		for _, t := range list {
			if t.Name == clash.Server && !left[t.Name] {
				leave(t, strings.TrimSuffix(clash.Text, " (nothing was changed)"))
			}
		}
		list = slices.DeleteFunc(slices.Clone(list), func(t Taken) bool { return t.Name == clash.Server || left[t.Name] })
	}
	if err != nil {
		// Without a key those that have no secret can still come in.
		for _, t := range list {
			if len(t.Secrets) > 0 || len(clientfiles.SecretNames(t.Server)) > 0 {
				leave(t, "the vault cannot be opened")
			}
		}
		warn = append(warn, "the vault: "+err.Error())
		checked, values = slices.DeleteFunc(slices.Clone(list), func(t Taken) bool { return len(clientfiles.SecretNames(t.Server)) > 0 }), nil
	}
	if err := s.keep(ctx, b, v, values); err != nil {
		return nil, warn, err
	}
	if err := s.write(b, checked); err != nil {
		return nil, warn, err
	}
	for _, t := range checked {
		for _, at := range append([]Taken{t}, t.also...) {
			s.cover(at, t.Name)
		}
	}
	if len(checked) > 0 {
		done = append(done, fmt.Sprintf("%s in %s, %s in the vault.", counted(len(checked), "server"), s.Settings, counted(len(values), "secret")))
	}
	return done, warn, nil
}

// keep puts secrets into the vault, each after it is in the record.
func (s *Setup) keep(ctx context.Context, b *book, v *vault.Vault, values map[string]string) error {
	names := slices.Sorted(maps.Keys(values))
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		b.Secrets = append(b.Secrets, recordedSecret{vault.Ref{Name: name}, b.box.Digest(recordName, name, values[name])})
	}
	if err := b.save(); err != nil {
		return err
	}
	for _, name := range names {
		b.reached("secret " + name)
		if err := v.Set(ctx, vault.Ref{Name: name}, values[name]); err != nil {
			return fmt.Errorf("keeping the secret %s: %w", name, err)
		}
	}
	b.reached("secrets done")
	return nil
}

// write puts servers into the settings.
func (s *Setup) write(b *book, list []Taken) error {
	if len(list) == 0 {
		return nil
	}
	var edits []edit
	for _, t := range list {
		entry, err := json.Marshal(settings.ServerEntry(t.Server))
		if err != nil {
			return err
		}
		edits = append(edits, edit{Kind: editServer, Text: t.Name, Entry: entry})
		if !slices.Contains(b.Servers, t.Name) {
			b.Servers = append(b.Servers, t.Name)
		}
	}
	_, err := b.change(s.anywhere(), s.Settings, edits, Adding(list))
	return err
}

// anywhere is this machine for the file of our own settings, which lies where the
// person says.
func (s *Setup) anywhere() Machine {
	m := s.Machine
	m.everywhere = true
	return m
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
