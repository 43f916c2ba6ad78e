package python

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// bus has a toolbox join the bus of the settings. A sandbox that shows single hosts
// shows them by a proxy for HTTP, which no client of a bus goes by.
func (f *finder) bus(s *mcphub.Server, p settings.Python) error {
	if p.Sandbox != sandboxHost && !slices.Contains(p.Hosts, "*") {
		return errors.New("from the sandbox a toolbox reaches the bus only with the whole network: hosts: ['*'], or sandbox: host")
	}
	at, err := url.Parse(f.cfg.Bus.URL)
	if err != nil {
		return fmt.Errorf("bus.url: %w", err)
	}
	s.Env["TOOLCRIB_BUS_URL"] = f.cfg.Bus.URL
	if f.cfg.Bus.Token != "" { // it may be the name of a secret: the hub puts that in
		mark := "?"
		if at.RawQuery != "" {
			mark = "&"
		}
		s.Env["TOOLCRIB_BUS_URL"] += mark + "token=" + f.cfg.Bus.Token
	}
	return nil
}

// configOf is the configuration of a toolbox: what the settings say, over what a
// mycroft.conf says. Texts with references to secrets go by variables, which the hub
// fills in: a secret does not stand on a command line.
func configOf(mycroft json.RawMessage, own ...string) (text string, env map[string]string, err error) {
	all, env := map[string]any{}, map[string]string{}
	if mycroft != nil {
		if err := decode(mycroft, &all); err != nil {
			return "", nil, fmt.Errorf("the section of mycroft.conf: %w", err)
		}
	}
	byVariable(all, func(value string) (any, bool) { // it means itself, whatever is in it
		if !strings.Contains(value, "${") {
			return nil, false
		}
		return variable(env, strings.ReplaceAll(value, "${", "$${")), true
	})
	for _, said := range own {
		if said == "" {
			continue
		}
		var one map[string]any
		if err := decode([]byte(said), &one); err != nil {
			return "", nil, fmt.Errorf("want a JSON object: %w", err)
		}
		byVariable(one, func(value string) (any, bool) {
			if !strings.Contains(value, "${") {
				return nil, false
			}
			return variable(env, value), true
		})
		maps.Copy(all, one)
	}
	if len(all) == 0 {
		return "", nil, nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(all)
	return strings.TrimSpace(out.String()), env, err
}

// decode keeps numbers as they are written.
func decode(text []byte, into *map[string]any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() || *into == nil {
		return errors.New("there is something else, or something after it")
	}
	return nil
}

// variable has the host take a text from a variable.
func variable(env map[string]string, value string) any {
	name := fmt.Sprintf("TOOLCRIB_CONFIG_%d", len(env))
	env[name] = value
	return map[string]any{"$env": name}
}

// byVariable replaces texts in a value, deeply.
func byVariable(value any, replace func(string) (any, bool)) any {
	switch v := value.(type) {
	case string:
		if other, is := replace(v); is {
			return other
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = byVariable(v[key], replace)
		}
	case []any:
		for i := range v {
			v[i] = byVariable(v[i], replace)
		}
	}
	return value
}
