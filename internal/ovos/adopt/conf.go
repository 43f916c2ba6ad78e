package adopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
)

// switchOff writes into the text of a mycroft.conf that the plugin is off, and that
// Toolcrib serves in its place. Every other byte stays. The result is read again:
// what does not say that, and all else as before, is not handed out.
func switchOff(text []byte) ([]byte, error) {
	before, err := decoded(text)
	if err != nil {
		return nil, err
	}
	want := deepCopy(before)
	plugin := sub(sub(want, phalKey), host.ToolsPlugin)
	plugin["enabled"], plugin[host.ServedBy] = false, servedBy
	out, err := setMembers(text, []string{phalKey, host.ToolsPlugin}, []member{{"enabled", "false"}, {host.ServedBy, string(jsontext.Quote(servedBy))}})
	if err != nil {
		return nil, err
	}
	return checked(out, want)
}

// switchBack takes that out again: what enabled was before is was, "" for nothing.
// Of a file that is as switchOff left it the old bytes are kept elsewhere; this is
// for one that was changed since.
func switchBack(text []byte, was string) ([]byte, error) {
	before, err := decoded(text)
	if err != nil {
		return nil, err
	}
	phal, _ := before[phalKey].(map[string]any)
	plugin, _ := phal[host.ToolsPlugin].(map[string]any)
	if plugin[host.ServedBy] != servedBy {
		return text, nil // somebody else has taken it out
	}
	want := deepCopy(before)
	of := sub(sub(want, phalKey), host.ToolsPlugin)
	path := []string{phalKey, host.ToolsPlugin}
	delete(of, host.ServedBy)
	out, err := removeMember(text, path, host.ServedBy)
	if err != nil {
		return nil, err
	}
	switch {
	case plugin["enabled"] != false: // changed since
	case was == "":
		delete(of, "enabled")
		out, err = removeMember(out, path, "enabled")
	default:
		var value any
		if err := json.Unmarshal([]byte(was), &value); err != nil {
			return nil, err
		}
		of["enabled"] = value
		out, err = setMembers(out, path, []member{{"enabled", was}})
	}
	if err != nil {
		return nil, err
	}
	return checked(out, want)
}

const (
	phalKey  = "PHAL"
	servedBy = "toolcrib"
)

// enabledIn gives what a text says about the plugin, as it is written; "": nothing.
func enabledIn(text []byte) string {
	bare := masked(text)
	at := 0
	for _, key := range []string{phalKey, host.ToolsPlugin, "enabled"} {
		o, err := objectAt(bare, at)
		if err != nil {
			return ""
		}
		m, ok := o.last(key)
		if !ok {
			return ""
		}
		at = m.value
	}
	return string(text[at:jsontext.ValueEnd(bare, at)])
}

func checked(out []byte, want map[string]any) ([]byte, error) {
	got, err := decoded(out)
	if err != nil || !reflect.DeepEqual(got, want) {
		return nil, errors.New("it is written in a way that cannot be changed here without touching the rest: set PHAL.ovos-phal-plugin-tools.enabled by hand")
	}
	return out, nil
}

// decoded reads a mycroft.conf as the voice assistant does. Nothing at all is an
// empty one.
func decoded(text []byte) (map[string]any, error) {
	bare := masked(text)
	if len(bytes.TrimSpace(bare)) == 0 {
		return map[string]any{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(bare))
	decoder.UseNumber()
	var all map[string]any
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("it is no JSON with comments on lines of their own: %w", err)
	}
	if decoder.More() || all == nil {
		return nil, errors.New("it is no JSON object")
	}
	return all, nil
}

func deepCopy(from map[string]any) map[string]any {
	to := make(map[string]any, len(from))
	for key, value := range from {
		if inner, is := value.(map[string]any); is {
			value = deepCopy(inner)
		}
		to[key] = value
	}
	return to
}

// sub gives the object below a key, which is made where there is none.
func sub(of map[string]any, key string) map[string]any {
	inner, is := of[key].(map[string]any)
	if !is {
		inner = map[string]any{}
		of[key] = inner
	}
	return inner
}

// masked has blanks in place of lines that are comments, and of a byte order mark,
// so that every place in it is that place in the text.
func masked(text []byte) []byte {
	out := make([]byte, 0, len(text))
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		out, text = append(out, "   "...), text[3:]
	}
	for line := range bytes.Lines(text) {
		if start := bytes.TrimSpace(line); bytes.HasPrefix(start, []byte("//")) || bytes.HasPrefix(start, []byte("#")) {
			body := bytes.TrimRight(line, "\r\n")
			out = append(append(out, bytes.Repeat([]byte{' '}, len(body))...), line[len(body):]...)
			continue
		}
		out = append(out, line...)
	}
	return out
}

// member is one that is to be written.
type member struct{ key, value string }

// placed is a member as it stands in a text.
type placed struct {
	key        string
	begin      int // of its name
	value, end int // of its value
}

// object is one as it stands in a text.
type object struct {
	open, close int // its braces
	members     []placed
}

func (o object) last(key string) (placed, bool) {
	for _, m := range slices.Backward(o.members) {
		if m.key == key {
			return m, true
		}
	}
	return placed{}, false
}

// objectAt reads the object that begins at a place of a valid text without comments.
func objectAt(bare []byte, at int) (object, error) {
	i := jsontext.SkipSpace(bare, at)
	o := object{open: i}
	if i >= len(bare) || bare[i] != '{' {
		return o, jsontext.ErrNoObject
	}
	i = jsontext.SkipSpace(bare, i+1)
	for i < len(bare) && bare[i] == '"' {
		m := placed{begin: i}
		end := jsontext.StringEnd(bare, i)
		key, ok := jsontext.Unquote(bare[i:end])
		if i = jsontext.SkipSpace(bare, end); !ok || i >= len(bare) || bare[i] != ':' {
			return o, jsontext.ErrNoObject
		}
		m.key, m.value = key, jsontext.SkipSpace(bare, i+1)
		m.end = jsontext.ValueEnd(bare, m.value)
		o.members = append(o.members, m)
		if i = jsontext.SkipSpace(bare, m.end); i < len(bare) && bare[i] == ',' {
			i = jsontext.SkipSpace(bare, i+1)
		}
	}
	if i >= len(bare) || bare[i] != '}' {
		return o, jsontext.ErrNoObject
	}
	o.close = i
	return o, nil
}

// setMembers writes members of the object at a path, which is made where it is
// missing.
func setMembers(text []byte, path []string, set []member) ([]byte, error) {
	bare := masked(text)
	if len(bytes.TrimSpace(bare)) == 0 {
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(bytes.Clone(text), '\n')
		}
		return append(bytes.Clone(text), written(path, set, "", lineEnd(text))+lineEnd(text)...), nil
	}
	at := 0
	for depth, key := range path {
		o, err := objectAt(bare, at)
		if err != nil {
			return nil, err
		}
		m, there := o.last(key)
		switch {
		case !there:
			inner := unit(text, o)
			return insertFirst(text, o, []member{{key, written(path[depth+1:], set, inner, lineEnd(text))}}), nil
		case bare[m.value] != '{': // null, or what no plugin can be told
			inner := indentOf(text, m.begin)
			return splice(text, m.value, m.end, written(path[depth+1:], set, inner, lineEnd(text))), nil
		}
		at = m.value
	}
	o, err := objectAt(bare, at)
	if err != nil {
		return nil, err
	}
	var fresh []member
	for _, m := range set {
		if _, there := o.last(m.key); !there {
			fresh = append(fresh, m)
		}
	}
	for _, old := range slices.Backward(o.members) { // what comes before keeps its place
		for _, m := range set {
			if old.key == m.key && string(text[old.value:old.end]) != m.value {
				text = splice(text, old.value, old.end, m.value)
			}
		}
	}
	if len(fresh) == 0 {
		return text, nil
	}
	if o, err = objectAt(masked(text), at); err != nil {
		return nil, err
	}
	return insertFirst(text, o, fresh), nil
}

// insertFirst puts members before the others of an object, each on a line.
func insertFirst(text []byte, o object, set []member) []byte {
	inner, end := unit(text, o), lineEnd(text)
	var b strings.Builder
	for i, m := range set {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(end + inner + string(jsontext.Quote(m.key)) + ": " + m.value)
	}
	if len(o.members) > 0 {
		b.WriteByte(',')
		// What follows on the same line stands on one of its own.
		if rest := text[o.open+1 : o.members[0].begin]; !bytes.ContainsAny(rest, "\n") {
			b.WriteString(end + inner)
			return splice(text, o.open+1, o.members[0].begin, b.String())
		}
		return splice(text, o.open+1, o.open+1, b.String())
	}
	if !bytes.ContainsAny(text[o.open:o.close], "\n") {
		b.WriteString(end + indentOf(text, o.open))
		return splice(text, o.open+1, o.close, b.String())
	}
	return splice(text, o.open+1, o.open+1, b.String())
}

// removeMember takes every member of that name out of the object at a path.
func removeMember(text []byte, path []string, key string) ([]byte, error) {
	for {
		bare := masked(text)
		at := 0
		for _, step := range path {
			o, err := objectAt(bare, at)
			if err != nil {
				return nil, err
			}
			m, there := o.last(step)
			if !there {
				return text, nil
			}
			at = m.value
		}
		o, err := objectAt(bare, at)
		if err != nil {
			return nil, err
		}
		i := -1
		for j, m := range o.members {
			if m.key == key {
				i = j
			}
		}
		if i < 0 {
			return text, nil
		}
		text = splice(text, o.from(bare, i), o.to(bare, i), "")
	}
}

// from and to say where a member is cut out: with the comma behind it, or with the
// one before it if it is the last, and with the line if it has one of its own.
func (o object) from(bare []byte, i int) int {
	if i == len(o.members)-1 && i > 0 {
		return jsontext.SkipSpace(bare, o.members[i-1].end) // the comma
	}
	from := o.members[i].begin
	for from > 0 && (bare[from-1] == ' ' || bare[from-1] == '\t') {
		from--
	}
	return from
}

func (o object) to(bare []byte, i int) int {
	if i == len(o.members)-1 {
		return o.members[i].end
	}
	to := jsontext.SkipSpace(bare, o.members[i].end) + 1 // behind the comma
	rest := bytes.IndexByte(bare[to:], '\n')
	lineBegins := o.from(bare, i) == 0 || bare[o.from(bare, i)-1] == '\n'
	if lineBegins && rest >= 0 && len(bytes.TrimSpace(bare[to:to+rest])) == 0 {
		return to + rest + 1
	}
	return to
}

// written is an object below a path, as text.
func written(path []string, set []member, indent, end string) string {
	inner := indent + "  "
	var b strings.Builder
	b.WriteString("{" + end)
	if len(path) > 0 {
		b.WriteString(inner + string(jsontext.Quote(path[0])) + ": " + written(path[1:], set, inner, end) + end)
	} else {
		for i, m := range set {
			comma := ","
			if i == len(set)-1 {
				comma = ""
			}
			b.WriteString(inner + string(jsontext.Quote(m.key)) + ": " + m.value + comma + end)
		}
	}
	b.WriteString(indent + "}")
	return b.String()
}

// unit is how far the members of an object stand in.
func unit(text []byte, o object) string {
	if len(o.members) > 0 {
		if rest := text[o.open:o.members[0].begin]; bytes.ContainsAny(rest, "\n") {
			return indentOf(text, o.members[0].begin)
		}
	}
	return indentOf(text, o.open) + "  "
}

// indentOf is the white space that the line of a place begins with.
func indentOf(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func splice(text []byte, from, to int, put string) []byte {
	return append(append(append(make([]byte, 0, len(text)+len(put)), text[:from]...), put...), text[to:]...)
}
