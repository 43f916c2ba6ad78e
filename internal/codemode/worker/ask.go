package worker

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"modernc.org/quickjs"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

var errArguments = errors.New("the arguments do not fit")

// kindOf is what a script asks for by this word.
func kindOf(word string) codemode.Kind {
	switch word {
	case "search":
		return codemode.Search
	case "describe":
		return codemode.Describe
	}
	return codemode.Call
}

// begins sends a call: its kind, a name and the arguments.
func (m *machine) begins(args []any, waits bool) (uint32, error) {
	if len(args) != 3 {
		return 0, errArguments
	}
	kind, _ := args[0].(string)
	name, _ := args[1].(string)
	body, _ := args[2].(string)
	if len(name) > codemode.MaxName || len(body) > codemode.MaxValue {
		return 0, errors.New("the arguments are too long: " + strconv.Itoa(max(len(name), len(body))) + " bytes, and at most " + strconv.Itoa(codemode.MaxValue) + " go out of a script")
	}
	return m.host.begin(kindOf(kind), name, body, waits)
}

// ask makes a call that the script waits for.
func (m *machine) ask(args []any) (any, error) {
	id, err := m.begins(args, true)
	if err != nil {
		return nil, err
	}
	return m.answer(id, true)
}

// start begins a call and gives its number.
func (m *machine) start(args []any) (any, error) {
	id, err := m.begins(args, false)
	return int(id), err
}

// wait gives the answer to a call that was begun.
func (m *machine) wait(args []any) (any, error) {
	id, ok := number(args)
	if !ok {
		return nil, errArguments
	}
	return m.answer(id, false)
}

// answer waits for the answer to a call: + and JSON, or - and what was refused.
func (m *machine) answer(id uint32, told bool) (any, error) {
	got, err := m.host.wait(id, told)
	if err != nil {
		return nil, err
	}
	if got.Kind == codemode.Reply {
		return "+" + string(got.Body), nil
	}
	fault, err := json.Marshal(map[string]string{"code": got.Name, "message": string(got.Body)})
	return "-" + string(fault), err
}

func number(args []any) (uint32, bool) {
	if len(args) != 1 {
		return 0, false
	}
	n, ok := args[0].(int)
	return uint32(n), ok && n > 0 //nolint:gosec // numbers of calls are small
}

// log sends a line. It is not sent at once: nobody waits for it.
func (m *machine) log(args []any) (any, error) {
	line, _ := args[0].(string)
	return nil, m.host.send(codemode.Message{Kind: codemode.Log, Name: clip(line)}, false)
}

func clip(s string) string { return s[:min(len(s), 8<<10)] }

// done and fail are the end of a script.
func (m *machine) done(args []any) (any, error) {
	body, _ := args[0].(string)
	m.lost, _ = args[1].(int)
	if len(body) > codemode.MaxValue {
		m.finish(codemode.Exception{Name: "RangeError", Message: "the value of the script has " + strconv.Itoa(len(body)) + " bytes, and at most " + strconv.Itoa(codemode.MaxValue) + " are taken: return less"})
		return nil, nil
	}
	m.ended, m.end = true, codemode.Message{Kind: codemode.Done, Body: []byte(body)}
	return nil, nil
}

func (m *machine) fail(args []any) (any, error) {
	part := func(i int) string { s, _ := args[i].(string); return clip(s) }
	line, column := m.place(part(3))
	m.lost, _ = args[4].(int)
	m.finish(codemode.Exception{Name: part(0), Code: part(1), Message: part(2), Line: line, Column: column})
	return nil, nil
}

func (m *machine) finish(x codemode.Exception) {
	if m.ended {
		return
	}
	if x.Name == "" && x.Message == "" { // there was no memory left even for that
		x.Name, x.Message = "InternalError", "the script was out of memory, or went too deep"
	}
	body, err := json.Marshal(x)
	if err != nil {
		body = []byte(`{"name":"Error","message":"the script failed"}`)
	}
	m.ended, m.end = true, codemode.Message{Kind: codemode.Failed, Body: body}
}

// broke tells of an error that the engine gave: one of syntax, or the end of its time.
func (m *machine) broke(err error) {
	if err == nil {
		err = errors.New("interrupted")
	}
	x := codemode.Exception{Name: "Error", Message: clip(err.Error())}
	if e, ok := errors.AsType[*quickjs.Error](err); ok {
		x = codemode.Exception{Name: clip(e.Name), Message: clip(e.Message), Line: e.LineNumber - m.shift, Column: e.ColumnNumber}
		if line, column := m.place(e.Stack); line > 0 {
			x.Line, x.Column = line, column
		}
	}
	m.finish(x)
}

// place finds the line and column of the script in a stack: those of its first frame
// that is the script's own.
func (m *machine) place(stack string) (line, column int) {
	for frame := range strings.Lines(stack) {
		_, at, ok := strings.Cut(frame, scriptFile+":")
		if !ok {
			continue
		}
		l, c, _ := strings.Cut(strings.TrimRight(at, ")\n"), ":")
		line, _ = strconv.Atoi(l)
		column, _ = strconv.Atoi(c)
		if line <= ownLines {
			return line - m.shift, column
		}
	}
	return 0, 0
}
