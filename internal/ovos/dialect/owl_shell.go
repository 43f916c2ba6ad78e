package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// What differs from OWL's own functions: bytes that are no UTF-8 come as U+FFFD
// where it loses the whole output, much output comes shortened, and what a
// command leaves in the background is ended with it. ask_user is answered by
// the person; in OWL its function is a place holder for its server.

// owlSeconds is how long a command of OWL may run.
const owlSeconds = 30

func (opt Options) owlShell() []owlTool {
	return []owlTool{
		{
			box: "shell", native: "run_command", name: "run_command",
			doc: "Run a command line and wait for it to end, 30 seconds at most.",
			args: []parameter{
				{name: "command", typ: "string", doc: "The command line", required: true},
				{name: "working_dir", typ: "string", doc: "The directory to run it in"},
			},
			in: translated(opt.owlRunIn), answer: answered(opt.owlRunOut),
		},
		{
			box: "interact", native: "ask_user", name: "ask_user", doc: "Ask the person a question.",
			args: []parameter{
				{name: "question", typ: "string", doc: "What to ask", required: true},
				{name: "options", typ: "array", doc: "Answers to choose from", items: `{"type":"string"}`},
			},
			answer: answered(owlAskOut),
		},
	}
}

type owlRun struct {
	Command    string  `json:"command"`
	WorkingDir *string `json:"working_dir"`
}

// seconds is the time that a command gets: OWL's, or less if the settings say so.
func (opt Options) owlTime() int {
	return max(1, int(opt.seconds(json.Number(fmt.Sprint(owlSeconds)))))
}

func (opt Options) owlRunIn(in owlRun) (any, error) {
	native := nativeRun{Command: in.Command, Timeout: opt.owlTime()}
	if strings.TrimSpace(in.Command) == "" {
		native.Command = ":" // nothing is to be done, but it is judged
	}
	if in.WorkingDir != nil {
		native.WorkingDir = *in.WorkingDir
	}
	switch {
	case strings.ContainsRune(native.Command+native.WorkingDir, 0):
		return nil, told(toolcrib.CodeInvalid, "run_command", "embedded null byte")
	case in.WorkingDir != nil && *in.WorkingDir == "":
		return nil, told(toolcrib.CodeInvalid, "run_command", "[Errno 2] No such file or directory: ''")
	}
	return native, nil
}

func (opt Options) owlRunOut(in owlRun, out *nativeRunOut, failed string) (*toolcrib.Result, error) {
	dir := ""
	if in.WorkingDir != nil {
		dir = *in.WorkingDir
	}
	switch {
	case out == nil && strings.HasSuffix(failed, " is not a directory"):
		return owlFailed(errno("not a directory") + ": " + repr(dir)), nil
	case out == nil && errno(failed) != "":
		return owlFailed(errno(failed) + ": " + repr(dir)), nil
	case out == nil:
		return owlFailed(failed), nil
	case out.Cancelled:
		return owlFailed(cancelled), nil
	case out.TimedOut:
		return owlFailed(fmt.Sprintf("Command timed out (%ds)", opt.owlTime())), nil
	}
	return value(ordered{{"command", in.Command}, {"stdout", newlines(out.Stdout)}, {"stderr", newlines(out.Stderr)}, {"exit_code", out.code()}}), nil
}

type nativeAnswer struct {
	Answer string `json:"answer"`
}

func owlAskOut(_ struct{}, out *nativeAnswer, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return owlFailed(failed), nil
	}
	return value(*out), nil
}
