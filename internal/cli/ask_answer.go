package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// errNoEditor: no editor is set, and the arguments are typed instead.
var errNoEditor = errors.New("no editor is set")

// understand makes an answer of a line, or says what has to be typed next. On
// an error the same is asked for again.
func (p *atTerminal) understand(line string) (desk.Reply, stage, error) {
	calls := p.current.Waiting
	switch {
	case p.stage == stageMessage:
		return desk.Reply{Choice: desk.Deny, Message: line}, stageAnswer, nil
	case p.stage == stageArguments && line == "":
		return desk.Reply{}, stageAnswer, errors.New("nothing was changed")
	case p.stage == stageArguments:
		if err := isObject([]byte(line)); err != nil {
			return desk.Reply{}, stageArguments, err
		}
		return desk.Reply{Choice: desk.Edit, Input: json.RawMessage(line), Calls: calls}, stageAnswer, nil
	case p.stage == stagePaths && line == "":
		return desk.Reply{}, stageAnswer, errors.New("nothing was named")
	case p.stage == stagePaths:
		return onlyPaths(line, calls)
	case p.current.Text != "":
		return ownAnswer(p.current, line, calls), stageAnswer, nil
	}
	word, rest, _ := strings.Cut(strings.ToLower(line), " ")
	if word == "m" || word == "message" {
		return desk.Reply{}, stageMessage, nil
	}
	if (word == "o" || word == "only") && p.current.ByPath {
		if _, named, _ := strings.Cut(line, " "); strings.TrimSpace(named) != "" {
			return onlyPaths(named, calls)
		}
		return desk.Reply{}, stagePaths, nil
	}
	r, ok := readAnswer(word)
	if !ok {
		return desk.Reply{}, stageAnswer, fmt.Errorf("%q is not one of the answers; ? shows what each of them means", word)
	}
	r.Calls = calls
	switch rest = strings.TrimSpace(rest); {
	case r.Choice == desk.Deny:
		r.Calls = 0
		if _, message, _ := strings.Cut(line, " "); strings.TrimSpace(message) != "" {
			r.Message = strings.TrimSpace(message)
		}
	case r.Choice == desk.Edit:
		input, err := p.edited()
		if errors.Is(err, errNoEditor) {
			p.say(string(p.current.Input) + "\n")
			return desk.Reply{}, stageArguments, nil
		}
		r.Input = input
		return r, stageAnswer, err
	case rest != "":
		span, err := readSpan(rest)
		if err != nil {
			return desk.Reply{}, stageAnswer, err
		}
		r.For = span
	}
	return r, stageAnswer, nil
}

// allows reports whether a line would let the call run, as it is or changed.
func (p *atTerminal) allows(line string) bool {
	if p.stage != stageAnswer || p.current.Text != "" {
		return false
	}
	word, _, _ := strings.Cut(strings.ToLower(line), " ")
	r, ok := readAnswer(word)
	return ok && r.Choice != desk.Deny || (word == "o" || word == "only") && p.current.ByPath
}

// onlyPaths is the answer that takes a part of what a command has changed.
func onlyPaths(line string, calls int) (desk.Reply, stage, error) {
	paths, err := desk.Paths(line)
	if err != nil {
		return desk.Reply{}, stagePaths, err
	}
	return desk.Reply{Choice: desk.AllowOnce, Paths: paths, Calls: calls}, stageAnswer, nil
}

// readAnswer reads the word of an answer. A second letter after one that remembers
// says what: the rule, the directory, the tool or the server, and not the exact
// arguments.
func readAnswer(word string) (desk.Reply, bool) {
	switch word {
	case "y", "yes", "once":
		return desk.Reply{Choice: desk.AllowOnce}, true
	case "s", "session":
		return desk.Reply{Choice: desk.AllowSession}, true
	case "p", "project":
		return desk.Reply{Choice: desk.AllowProject}, true
	case "a", "always":
		return desk.Reply{Choice: desk.AllowAlways}, true
	case "", "n", "no", "deny":
		return desk.Reply{Choice: desk.Deny}, true
	case "e", "edit":
		return desk.Reply{Choice: desk.Edit}, true
	}
	if len(word) != 2 || !strings.Contains("spa", word[:1]) {
		return desk.Reply{}, false
	}
	r, _ := readAnswer(word[:1])
	for _, by := range []desk.By{desk.ByRule, desk.ByDirectory, desk.ByTool, desk.ByServer} {
		if by[0] == word[1] {
			r.By = by
		}
	}
	return r, r.By != ""
}

// ownAnswer is the answer to a tool's own question: one of those it offers by
// number, or a text; nothing refuses.
func ownAnswer(q *desk.Question, line string, calls int) desk.Reply {
	if line == "" {
		return desk.Reply{Choice: desk.Deny}
	}
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(q.Options) {
		line = q.Options[n-1]
	}
	return desk.Reply{Choice: desk.AllowOnce, Message: line, Calls: calls}
}

// readSpan reads how long something holds: as Go writes it, or in days.
func readSpan(text string) (time.Duration, error) {
	span, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok && err != nil {
		n, derr := strconv.Atoi(days)
		if derr == nil && n < 100000 {
			span, err = time.Duration(n)*24*time.Hour, nil
		}
	}
	if err != nil || span <= 0 {
		return 0, fmt.Errorf("%q is no time: write 30m, 2h or 7d", text)
	}
	return span, nil
}

// edited has the person change the arguments.
func (p *atTerminal) edited() (json.RawMessage, error) {
	if p.edit == nil {
		return nil, errNoEditor
	}
	var before bytes.Buffer
	if err := json.Indent(&before, p.current.Input, "", "  "); err != nil {
		return nil, fmt.Errorf("the arguments cannot be edited: %w", err)
	}
	before.WriteByte('\n')
	after, err := p.edit(before.Bytes())
	if err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(after), bytes.TrimSpace(before.Bytes())) {
		return nil, errors.New("nothing was changed")
	}
	if err := isObject(after); err != nil {
		return nil, err
	}
	return json.RawMessage(bytes.TrimSpace(after)), nil
}

// isObject makes sure that a text can be arguments, and says where it cannot.
func isObject(text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("the arguments are not a JSON object: %w", err)
	}
	if object == nil {
		return errors.New("the arguments are not a JSON object")
	}
	return nil
}

// editor opens the person's editor on a text.
func (c *command) editor(ctx context.Context, tty *os.File, name string, text []byte) (now []byte, err error) {
	words := strings.Fields(c.getenv("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(c.getenv("EDITOR"))
	}
	if len(words) == 0 {
		return nil, errNoEditor
	}
	dir, err := os.MkdirTemp("", "toolcrib-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	program, err := c.programs.Look(words[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, fmt.Errorf("the editor %s: %w", words[0], err)
	}
	cmd := exec.CommandContext(ctx, program, append(words[1:], file)...)
	cmd.Dir = dir // not the project, whose settings an editor obeys
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, c.err, c.err
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s: %w", words[0], err)
	}
	return os.ReadFile(file)
}
