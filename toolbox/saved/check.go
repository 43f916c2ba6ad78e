package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The bounds of a script: what a person can be expected to read.
const (
	MaxCode        = 16 << 10
	MaxDescription = 1000
	maxArguments   = 16 << 10
	maxExample     = 8 << 10
	maxName        = 48
	maxLines       = 300 // of code: a form that shows more is cut
)

// Check says what is wrong with a script before a person is asked about it: its name, its words, its arguments, its example. Parse
// reads the code, as Needs.Parse does; nil: the code is not read. Which tools it calls is looked at when it is saved.
func Check(s Script, parse func(code string) error) error { return s.check(parse) }

func (s *Script) check(parse func(string) error) error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	if s.Name == SaveTool {
		return errors.New("name: the tool that saves has this name for its own")
	}
	switch {
	case strings.TrimSpace(s.Description) == "":
		return errors.New("description: say what the script does, for whoever looks for a tool")
	case len(s.Description) > MaxDescription:
		return fmt.Errorf("description: it has %d bytes; at most %d are taken", len(s.Description), MaxDescription)
	case strings.TrimSpace(s.Code) == "":
		return errors.New("code: the script is empty")
	case len(s.Code) > MaxCode:
		return fmt.Errorf("code: it has %d bytes, and a person has to read it; at most %d are taken", len(s.Code), MaxCode)
	case strings.Count(strings.TrimRight(s.Code, "\n"), "\n") >= maxLines:
		return fmt.Errorf("code: it has %d lines, and a person has to read it; at most %d are taken", strings.Count(s.Code, "\n")+1, maxLines)
	}
	for part, value := range map[string]string{"description": s.Description, "code": s.Code, "arguments": string(s.Arguments), "example": string(s.Example)} {
		if err := visible(value); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	if err := s.checkArguments(); err != nil {
		return err
	}
	if parse != nil {
		if err := parse(s.Code); err != nil {
			return fmt.Errorf("code: %w", err)
		}
	}
	return nil
}

// checkName takes names that look like themselves, and that every file system tells apart.
func checkName(name string) error {
	ok := len(name) >= 2 && len(name) <= maxName && name[0] >= 'a' && name[0] <= 'z'
	for i := range len(name) {
		c := name[i]
		ok = ok && (c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}
	if !ok {
		return fmt.Errorf("name %s: want 2 to %d of a-z, 0-9 and _, a letter first", text.ShowExact(fmt.Sprintf("%.80q", name)), maxName)
	}
	return nil
}

// visible refuses what a person would not see.
func visible(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("it is not UTF-8")
	}
	for i, r := range s {
		if r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(s[i:], "\r\n") {
			continue
		}
		if text.Invisible(r) {
			return fmt.Errorf("a character that cannot be seen (%s) stands at byte %d; write it as an escape", text.Code(r), i)
		}
	}
	return nil
}

func (s *Script) checkArguments() error {
	arguments := s.Arguments
	if len(arguments) == 0 {
		arguments = nothing()
	}
	if len(arguments) > maxArguments || len(s.Example) > maxExample {
		return fmt.Errorf("arguments and example: at most %d and %d bytes are taken", maxArguments, maxExample)
	}
	var top struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(arguments, &top); err != nil || top.Type != "object" {
		return errors.New(`arguments: want a JSON Schema of an object: {"type":"object","properties":{…},"required":[…]}`)
	}
	compiled, err := schema.Compile(arguments)
	if err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if len(s.Example) == 0 {
		return nil
	}
	doc, err := schema.Parse(s.Example, schema.Limits{})
	if err != nil {
		return fmt.Errorf("example: %w", err)
	}
	defer doc.Release()
	if problems := compiled.Validate(doc); len(problems) > 0 {
		return fmt.Errorf("example: it does not fit the arguments: %s", problems[0])
	}
	if raw := strings.TrimSpace(string(s.Example)); raw[0] != '{' || !json.Valid([]byte(raw)) || jsontext.Depth(raw) > 64 {
		return errors.New("example: want an object with arguments")
	}
	return nil
}
