package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Imported is what another program's permissions become. Everything that stood
// in the file is in Permissions or in Left: nothing is dropped silently, and no
// rule that is carried over allows more than it did.
type Imported struct {
	Permissions Permissions `json:"permissions"`
	// Mode is the mode that the file asks for, empty for none. A file does not
	// set it: a person does.
	Mode string `json:"mode,omitempty"`
	Left []Left `json:"left,omitempty"`
}

// Left is something that was not carried over, or not in full.
type Left struct {
	At     string `json:"at"` // where it stands: a key or a line
	Text   string `json:"text"`
	Why    string `json:"why"`
	Partly bool   `json:"partly,omitempty"` // some of it is in Permissions
	Aside  bool   `json:"aside,omitempty"`  // it is about something else than permissions
}

// maxImport bounds the files that are read.
const maxImport = 1 << 20

// importer gathers what a file becomes.
type importer struct {
	Imported
	opt RuleOptions
}

func newImporter(data []byte) (*importer, error) {
	if len(data) > maxImport {
		return nil, fmt.Errorf("the file has %d bytes; at most %d are read", len(data), maxImport)
	}
	// Where paths begin does not matter here: only whether a rule can be read.
	return &importer{opt: RuleOptions{Base: "/work", Home: "/home", Conditions: &Conditions{}}}, nil
}

func (im *importer) leaveOut(at, text, why string) {
	im.addLeft(Left{At: at, Text: clip(text), Why: why})
}

func (im *importer) partly(at, text, why string) {
	im.addLeft(Left{At: at, Text: clip(text), Why: why, Partly: true})
}

// setAside leaves out what is about something else, such as the looks of the client.
func (im *importer) setAside(at, text, why string) {
	im.addLeft(Left{At: at, Text: clip(text), Why: why, Aside: true})
}

// addLeft adds an entry once: a rule about several tools fails for all of them.
func (im *importer) addLeft(l Left) {
	if n := len(im.Left); n == 0 || im.Left[n-1] != l {
		im.Left = append(im.Left, l)
	}
}

// addRule adds a rule if it can be read, and says so if not.
func (im *importer) addRule(d toolcrib.Decision, at, original string, c Condition) bool {
	if m := strings.Map(printable, c.Message); m != c.Message || len(m) > maxMessage {
		c.Message = strings.ToValidUTF8(m[:min(len(m), maxMessage)], "")
		im.partly(at, original, "its message was too long or had control characters, and was changed")
	}
	// Who lets a client call our tools unasked wants to be asked once, by us.
	if _, ours := toolname.FromClient(c.Tool); ours && d == toolcrib.Allow {
		im.leaveOut(at, original, "it lets that program call Toolcrib unasked; what Toolcrib may do is said by rules about its tools")
		return false
	}
	p, err := parsePermission(d, c.Tool, &im.opt)
	if err == nil {
		err = p.complete(c, &im.opt, RankUser)
	}
	if err != nil {
		im.leaveOut(at, original, reasonOf(err))
		return false
	}
	if p.single() && p.command.Rule.Whole() {
		im.partly(at, original, "here it means the everyday commands of that program; what publishes, throws work away or is not known needs a rule of its own")
	}
	if c.When != "" || len(c.Match)+len(c.NotMatch) > 0 || c.Message != "" {
		c.Decision = d.String()
		im.Permissions.Rules = append(im.Permissions.Rules, c)
		return true
	}
	list := &im.Permissions.Deny
	switch d {
	case toolcrib.Allow:
		list = &im.Permissions.Allow
	case toolcrib.Ask:
		list = &im.Permissions.Ask
	case toolcrib.Deny:
	}
	*list = append(*list, c.Tool)
	return true
}

func printable(r rune) rune {
	if r != '\n' && unicode.IsControl(r) {
		return -1
	}
	return r
}

// reasonOf is the last part of an error: the rest repeats the rule.
func reasonOf(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// member is one entry of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// members reads an object in the order in which it was written, which some
// programs go by.
func members(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, errors.New("a key is not a text")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		out = append(out, member{name, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return out, nil
}

// withoutComments takes // and /* */ comments and trailing commas out of a JSON
// text, as several programs allow them in their settings.
func withoutComments(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		switch {
		case data[i] == '"':
			end := i + 1
			for end < len(data) && data[end] != '"' {
				if data[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(data))
			out = append(out, data[i:end]...)
			i = end
		case bytes.HasPrefix(data[i:], []byte("//")):
			for i < len(data) && data[i] != '\n' {
				i++
			}
		case bytes.HasPrefix(data[i:], []byte("/*")):
			end := bytes.Index(data[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 4
			out = append(out, ' ')
		case data[i] == '}' || data[i] == ']':
			if t := bytes.TrimRight(out, " \t\r\n"); len(t) > 0 && t[len(t)-1] == ',' {
				out = t[:len(t)-1]
			}
			out = append(out, data[i])
			i++
		default:
			out = append(out, data[i])
			i++
		}
	}
	return out
}

// quoteWord writes a word of a command so that a rule reads it as one.
func quoteWord(w string) (string, error) {
	if !shellguard.IsPlain(w) || w == "" {
		return "", errors.New("a word of it is empty or has characters that a rule cannot hold")
	}
	if !strings.ContainsAny(w, " \t\n\"'`\\$&|;<>()*?[]{}~#!=") {
		return w, nil
	}
	return text.ShellQuote(w), nil
}

// exactly writes a command of another program's allow as a rule: its words as they
// stand there. What takes away may mean more, and is left as it is.
func exactly(d toolcrib.Decision, command string) string {
	if d != toolcrib.Allow || command == "*" || command == ":*" {
		return command
	}
	return "=" + strings.TrimSpace(command)
}
