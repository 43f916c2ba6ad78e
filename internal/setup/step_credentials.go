package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
)

const mostCredentials = 2000

// credentials reads the store of AgenticX, if its key is there. The names are those that
// the vault will have: agenticx-ORGANISATION-TOOL-KEY.
func (s *Setup) credentials() (map[string]string, error) {
	dir := filepath.Join(s.Home, ".agenticx")
	data, err := plainfile.Read(filepath.Join(dir, "credentials"), mostToken)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	plain := data
	if content := strings.TrimSpace(string(data)); !strings.HasPrefix(content, "{") {
		key, err := plainfile.Read(filepath.Join(dir, "encryption.key"), 4096)
		if errors.Is(err, os.ErrNotExist) {
			return nil, errors.New("its key (encryption.key) is not there")
		}
		if err != nil {
			return nil, err
		}
		if plain, err = openFernet(string(key), content); err != nil {
			return nil, err
		}
	}
	return readCredentials(plain)
}

// readCredentials reads {organisation: {tool: {key: value}}}. No error repeats a value.
func readCredentials(plain []byte) (map[string]string, error) {
	var store map[string]map[string]map[string]any
	if json.Unmarshal(plain, &store) != nil {
		return nil, errors.New("what is in it is not written as credentials of AgenticX are")
	}
	values := map[string]string{}
	for organisation, tools := range store {
		for tool, keys := range tools {
			for key, value := range keys {
				content, ok := value.(string)
				if !ok || content == "" {
					continue // a number or a switch is no secret
				}
				name := "agenticx-" + wordOf(organisation) + "-" + wordOf(tool) + "-" + wordOf(key)
				if _, twice := values[name]; twice || vault.CheckName(name) != nil {
					return nil, fmt.Errorf("a name in it cannot be kept, or two become the same: %s", text.ShowLine(name))
				}
				values[name] = content
			}
		}
	}
	if len(values) > mostCredentials {
		return nil, fmt.Errorf("it has %d entries; at most %d are taken over", len(values), mostCredentials)
	}
	return values, nil
}

// wordOf makes a part of a name of one that may have any characters.
func wordOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// lookCredentials finds the credentials that the vault has not.
func (s *Setup) lookCredentials(ctx context.Context, b *book) (plan, error) {
	values, err := s.credentials()
	file := filepath.Join(s.Home, ".agenticx", "credentials")
	if err != nil {
		return plan{warn: []string{fmt.Sprintf("%s is left as it is: %v", file, err)}}, nil
	}
	if len(values) == 0 {
		return plan{}, nil
	}
	v, err := s.Vault()
	if err != nil {
		return plan{}, err
	}
	p := plan{found: []string{fmt.Sprintf("%s in %s.", counted(len(values), "credential"), file)}, yes: true}
	missing := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		old, err := v.Get(ctx, vault.Ref{Name: name})
		switch {
		case err == nil && old == values[name]:
		case err == nil:
			p.warn = append(p.warn, fmt.Sprintf("the vault has another value for %s, which stays", name))
		case errors.Is(err, vault.ErrNotFound):
			missing[name] = values[name]
			p.would = append(p.would, "Keep "+name)
		default:
			return plan{}, err
		}
	}
	if len(missing) == 0 {
		p.found[0] += " The vault has them."
		return p, nil
	}
	p.ask = fmt.Sprintf("Copy %s to the vault? AgenticX keeps its own.", counted(len(missing), "credential"))
	p.do = func(ctx context.Context) (done, warn []string, err error) {
		if err := s.keep(ctx, b, v, missing); err != nil {
			return nil, nil, err
		}
		return []string{fmt.Sprintf("%s in the vault. No tool gets one before you grant it (vault.grants).", counted(len(missing), "credential"))}, nil, nil
	}
	return p, nil
}
