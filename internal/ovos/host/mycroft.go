package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// Mycroft is what an existing mycroft.conf says about the bus and about
// toolboxes.
type Mycroft struct {
	Bus   MycroftBus
	Boxes map[string]MycroftBox // by toolbox id
	// Sections has what every toolbox is told, as it is written, by entry point.
	Sections map[string]json.RawMessage
	// Disabled: the plugin that serves toolboxes is switched off there.
	Disabled bool
}

// MycroftBus is the section "websocket". Nil: not said.
type MycroftBus struct {
	Host, Route *string
	Port        *int
	SSL         *bool
	MaxMsgSize  *float64 // MiB
}

// MycroftBox is what a toolbox is told under PHAL.ovos-phal-plugin-tools. Nil:
// not said.
type MycroftBox struct {
	RootPath          *string
	AllowWrite        *bool
	AllowShell        *bool
	MaxTimeout        *time.Duration
	AllowedCommands   []string
	ExtraSkillMDPaths []string
}

// URL is where clients find the bus.
func (b MycroftBus) URL() string {
	scheme, host, port, route := "ws", "127.0.0.1", 8181, bus.DefaultPath
	if b.SSL != nil && *b.SSL {
		scheme = "wss"
	}
	if b.Host != nil && *b.Host != "" {
		host = *b.Host
	}
	if host == "0.0.0.0" { // where a server listens, not where it is
		host = "127.0.0.1"
	}
	if b.Port != nil {
		port = *b.Port
	}
	if b.Route != nil && *b.Route != "" {
		route = "/" + strings.TrimPrefix(*b.Route, "/")
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port)) + route
}

// ReadMycroft reads the texts of mycroft.conf files, of which a later one
// counts over those before it. They are JSON, but for lines that begin with //
// or #. What is none of ours is not looked at.
func ReadMycroft(texts ...[]byte) (Mycroft, error) {
	all, asWritten := map[string]any{}, map[string]any{}
	for i, text := range texts {
		text = uncommented(text)
		var one map[string]any
		if err := json.Unmarshal(text, &one); err != nil {
			return Mycroft{}, fmt.Errorf("reading mycroft.conf %d of %d: %w", i+1, len(texts), err)
		}
		merge(all, one)
		var exact map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber() // a toolbox may count beyond what a float holds
		if err := decoder.Decode(&exact); err != nil {
			return Mycroft{}, fmt.Errorf("reading mycroft.conf %d of %d: %w", i+1, len(texts), err)
		}
		merge(asWritten, exact)
	}
	m := Mycroft{Boxes: map[string]MycroftBox{}}
	if err := m.readSections(asWritten); err != nil {
		return Mycroft{}, err
	}
	top := section{values: all}
	bus := top.sub("websocket")
	m.Bus = MycroftBus{Host: sectionValue[string](&bus, "host"), Route: sectionValue[string](&bus, "route"), SSL: sectionValue[bool](&bus, "ssl"), MaxMsgSize: sectionValue[float64](&bus, "max_msg_size")}
	if port := sectionValue[float64](&bus, "port"); port != nil {
		if *port != math.Trunc(*port) || *port < 1 || *port > 65535 {
			return Mycroft{}, fmt.Errorf("reading mycroft.conf: websocket.port: %v is no port", *port)
		}
		m.Bus.Port = new(int(*port))
	}
	if bus.err != nil {
		return Mycroft{}, bus.err
	}
	phal := top.sub("PHAL")
	plugin := phal.sub(ToolsPlugin)
	for _, id := range slices.Sorted(maps.Keys(plugin.values)) {
		if _, is := plugin.values[id].(map[string]any); !is {
			continue // a setting of the plugin itself
		}
		box := plugin.sub(id)
		m.Boxes[id] = box.box()
		if box.err != nil && slices.Contains(knownBoxes(), id) { // what another one is told has a meaning of its own
			return Mycroft{}, box.err
		}
	}
	return m, nil
}

// ToolsPlugin is what serves toolboxes on a voice assistant.
const ToolsPlugin = "ovos-phal-plugin-tools"

// ServedBy is the key beside the plugin's enabled that says who serves in its place:
// with the word toolcrib, the plugin is off so that we are not.
const ServedBy = "served_by"

// knownBoxes are the toolboxes whose settings are taken for ours.
func knownBoxes() []string {
	return []string{"ovos-filesystem-tools", "ovos-shell-tools", "ovos-skill-md-toolbox"}
}

// readSections keeps what each toolbox is told.
func (m *Mycroft) readSections(all map[string]any) error {
	top := section{values: all}
	phal := top.sub("PHAL")
	plugin := phal.sub(ToolsPlugin)
	m.Sections = map[string]json.RawMessage{}
	for name, value := range plugin.values {
		if name == "enabled" {
			// As the voice assistant reads it, unless it is off because of us.
			m.Disabled = value != true && plugin.values[ServedBy] != "toolcrib"
			continue
		}
		if _, is := value.(map[string]any); !is {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("reading mycroft.conf: PHAL.%s.%s: %w", ToolsPlugin, name, err)
		}
		m.Sections[name] = text
	}
	return nil
}

// section is a part of the settings, and the first mistake in it.
type section struct {
	values map[string]any
	path   string
	err    error
}

func (s *section) sub(key string) section {
	inner, _ := s.values[key].(map[string]any)
	return section{values: inner, path: strings.TrimPrefix(s.path+"."+key, ".")}
}

func (s *section) box() MycroftBox {
	b := MycroftBox{
		RootPath: sectionValue[string](s, "root_path"), AllowWrite: sectionValue[bool](s, "allow_write"), AllowShell: sectionValue[bool](s, "allow_shell"),
		AllowedCommands: s.texts("allowed_commands"), ExtraSkillMDPaths: s.texts("extra_skill_md_paths"),
	}
	if seconds := sectionValue[float64](s, "max_timeout"); seconds != nil {
		const most = 24 * time.Hour
		switch {
		case *seconds <= 0:
			s.fail("max_timeout", "more than 0 seconds")
		case *seconds > most.Seconds():
			b.MaxTimeout = new(most)
		default:
			b.MaxTimeout = new(time.Duration(*seconds * float64(time.Second)))
		}
	}
	return b
}

func (s *section) fail(key, want string) {
	if s.err == nil {
		s.err = fmt.Errorf("reading mycroft.conf: %s.%s: want %s", s.path, key, want)
	}
}

// sectionValue gives a value of a type; null is not said.
func sectionValue[T string | bool | float64](s *section, key string) *T {
	given := s.values[key]
	if given == nil {
		return nil
	}
	v, ok := given.(T)
	if !ok {
		switch any(v).(type) {
		case string:
			s.fail(key, "a text")
		case bool:
			s.fail(key, "true or false")
		default:
			s.fail(key, "a number")
		}
		return nil
	}
	return &v
}

// texts gives a list of texts, which is not nil if it is said.
func (s *section) texts(key string) []string {
	given := s.values[key]
	if given == nil {
		return nil
	}
	list, ok := given.([]any)
	out := []string{}
	for _, item := range list {
		text, is := item.(string)
		ok = ok && is
		out = append(out, text)
	}
	if !ok {
		s.fail(key, "a list of texts")
		return nil
	}
	return out
}

// uncommented is a file without the lines that are comments.
func uncommented(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		if start := bytes.TrimSpace(line); !bytes.HasPrefix(start, []byte("//")) && !bytes.HasPrefix(start, []byte("#")) {
			out.Write(line)
		}
	}
	return out.Bytes()
}

// merge puts the values of one object over those of another, deeply.
func merge(into, from map[string]any) {
	for key, value := range from {
		over, isObject := value.(map[string]any)
		under, wasObject := into[key].(map[string]any)
		if isObject && wasObject {
			merge(under, over)
		} else {
			into[key] = value
		}
	}
}
