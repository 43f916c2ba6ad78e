package python

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// installed is what an interpreter has of OpenVoiceOS.
type installed struct {
	Toolboxes []toolbox `json:"toolboxes"`
	Skills    []struct {
		Name         string `json:"name"`
		Path         string `json:"path"`
		Distribution string `json:"distribution"`
		Error        string `json:"error"`
	} `json:"skills"`
}

type toolbox struct {
	EntryPoint   string `json:"entry_point"`
	ID           string `json:"toolbox_id"`
	Distribution string `json:"distribution"`
	Version      string `json:"version"`
	Error        string `json:"error"`
}

// opm puts up a server for each toolbox that is installed.
func (f *finder) opm(ctx context.Context, name string, p settings.Python, in interpreter, host string, d declaration) {
	key := "python." + name
	list, err := f.installed(ctx, name, p, in, host, d)
	if err != nil {
		f.fault(key, err)
		return
	}
	var sections map[string]json.RawMessage
	if f.h.needs.Mycroft != nil {
		if sections, err = f.h.needs.Mycroft(f.cfg.Bus); err != nil {
			f.fault(key, err)
			return
		}
	}
	var off []string
	for entry, section := range sections {
		if section == nil {
			off = append(off, entry)
		}
	}
	for _, t := range list.Toolboxes {
		id := t.ID
		if id == "" {
			id = t.EntryPoint
		}
		if !f.wanted(p, id, t.EntryPoint) || slices.Contains(off, t.EntryPoint) {
			continue
		}
		s, err := f.toolbox(name, p, in, host, d, t, sections[t.EntryPoint])
		if t.Error != "" {
			err = fmt.Errorf("the toolbox %s of %s %s cannot be loaded: %s", t.EntryPoint, t.Distribution, t.Version, text.ShowLine(text.Clip(t.Error, 500)))
		}
		if err != nil {
			f.fault(boxName(id), err)
			continue
		}
		box, clash := f.nameFor(id)
		if clash { // its tools are called as ours are, and nobody may take one for the other
			s.Bare = false
		}
		if f.add(box, s) && box != id {
			f.out.IDs[box] = id
		}
	}
	for _, s := range list.Skills {
		switch {
		case s.Error != "":
			f.fault(key, fmt.Errorf("the skill %s of %s cannot be loaded: %s", s.Name, s.Distribution, text.ShowLine(text.Clip(s.Error, 500))))
		case !filepath.IsAbs(s.Path):
			f.fault(key, fmt.Errorf("the skill %s of %s has no whole path", s.Name, s.Distribution))
		default:
			f.out.Skills = append(f.out.Skills, s.Path)
		}
	}
}

func (f *finder) wanted(p settings.Python, id, entry string) bool {
	match := func(pattern string) bool {
		for _, name := range []string{id, entry} {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				return true
			}
		}
		return false
	}
	return (len(p.Toolboxes) == 0 || slices.ContainsFunc(p.Toolboxes, match)) && !slices.ContainsFunc(p.Skip, match)
}

// nameFor is the name of the box of an id. Ids that boxes of ours have on a bus mean
// those in rules, so that the box of another must not be called so.
func (f *finder) nameFor(id string) (name string, clash bool) {
	name = boxName(id)
	if f.h.needs.Check(name) != nil || dialect.OVOSOwner(id) != "" {
		return boxName("opm-" + name), true
	}
	return name, false
}

// toolbox makes a server of one toolbox.
func (f *finder) toolbox(name string, p settings.Python, in interpreter, host string, d declaration, t toolbox, section json.RawMessage) (mcphub.Server, error) {
	entry, err := plain(t.EntryPoint)
	if err != nil || entry == "" || strings.HasPrefix(entry, "-") {
		return mcphub.Server{}, fmt.Errorf("%q is no entry point that can be used", t.EntryPoint)
	}
	s := d.server(in, host, []string{"serve", "--opm", entry})
	config, env, err := configOf(section, p.Config[t.ID], p.Config[t.EntryPoint])
	if err != nil {
		return s, fmt.Errorf("python.%s.config.%s: %w", name, t.ID, err)
	}
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	if config != "" {
		s.Args = append(s.Args, "--config", config)
		maps.Copy(s.Env, env)
	}
	if p.Bus {
		if err := f.bus(&s, p); err != nil {
			return s, fmt.Errorf("python.%s.bus: %w", name, err)
		}
	}
	s.Shown = fmt.Sprintf("toolbox %s of %s %s (%s)", t.ID, t.Distribution, t.Version, in.path)
	return s, nil
}

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

// kept is what an interpreter said, and of what.
type kept struct {
	Of   string    `json:"of"`
	List installed `json:"list"`
}

// installed asks an interpreter what it has. What it said last counts while nothing
// was installed or removed since, so that a call need not wait for it.
func (f *finder) installed(ctx context.Context, name string, p settings.Python, in interpreter, host string, d declaration) (installed, error) {
	of := strings.Join([]string{host, in.path, p.Sandbox, fmt.Sprint(p.Read, p.Write, p.Hosts, p.Env), in.marks()}, "\x00")
	file := ""
	if f.h.needs.State != "" {
		file = filepath.Join(f.h.needs.State, "opm-"+boxName(name)+".json")
	}
	var was kept
	if content, err := plainfile.Read(file, mostListed); file != "" && err == nil && json.Unmarshal(content, &was) == nil && was.Of == of && !f.anew {
		return was.List, nil
	}
	if f.h.needs.Start == nil {
		return was.List, nil // it is only looked at
	}
	list, err := f.ask(ctx, name, p, in, host, d)
	if err != nil {
		return list, err
	}
	if file != "" {
		content, err := json.Marshal(kept{of, list})
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), durable.Replace(file, content, 0o600))
		}
		if err != nil {
			f.h.needs.Log.Warn("what an interpreter has is not kept", "python", name, "err", err)
		}
	}
	return list, nil
}

// mostListed bounds what an interpreter says.
const mostListed = 4 << 20

// ask runs the host in the sandbox of the entry, with its grant.
func (f *finder) ask(ctx context.Context, name string, p settings.Python, in interpreter, host string, d declaration) (installed, error) {
	limit := p.StartTimeout
	if limit == 0 {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := d.server(in, host, []string{"list", "--opm"})
	said := &lastWords{}
	l := mcphub.Launch{Server: "python." + name, Command: s.Command, Args: s.Args, Sandbox: s.Sandbox, Grant: s.Grant, Tools: s.Tools, Stderr: said, Env: map[string]string{}}
	for variable, value := range s.Env {
		if full, err := f.h.needs.Expand(ctx, value); err == nil { // what cannot be had is told when a toolbox starts
			l.Env[variable] = full
		}
	}
	process, err := f.h.Starting(f.h.needs.Start)(ctx, l)
	if err != nil {
		return installed{}, err
	}
	defer process.Kill()
	stop := context.AfterFunc(ctx, process.Kill)
	defer stop()
	_ = process.Stdin.Close() // it reads none
	out, err := io.ReadAll(io.LimitReader(process.Stdout, mostListed+1))
	if err != nil {
		return installed{}, err
	}
	if len(out) > mostListed {
		return installed{}, fmt.Errorf("%s says more than %d bytes about what is installed", in.path, mostListed)
	}
	<-process.Done
	if ctx.Err() != nil {
		return installed{}, fmt.Errorf("%s did not say within %v what is installed%s", in.path, limit, said.words())
	}
	var list installed
	if err := json.Unmarshal(bytes.TrimSpace(out), &list); err != nil {
		return list, fmt.Errorf("%s did not say what is installed: %w%s", in.path, process.Err(), said.words())
	}
	return list, nil
}

// lastWords is the end of what a program wrote to its log.
type lastWords struct {
	mu   sync.Mutex
	tail []byte
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, p...)
	if most := 4 << 10; len(w.tail) > most {
		w.tail = w.tail[len(w.tail)-most:]
	}
	return len(p), nil
}

// words gives the last line, as data.
func (w *lastWords) words() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.tail)), "\n")
	last := text.ShowLine(text.Clip(strings.ToValidUTF8(lines[len(lines)-1], ""), 500))
	if last == "" {
		return ""
	}
	return " (it said: " + last + ")"
}
