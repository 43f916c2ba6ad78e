package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// The shell of OpenVoiceOS answers everything in band, as a command that
// printed its reason on standard error and gave -1.
//
// What differs from the original: bytes that are no UTF-8 come as U+FFFD
// where it loses the whole output, much output comes shortened, and what is
// left in the background is ended with the command.

// ovosShell lists the tool that runs commands.
func ovosShell(opt Options) []ovosTool {
	return []ovosTool{{
		box: "shell", native: "run_command", name: "run_command",
		doc: "Execute a shell command and return its stdout, stderr, and exit code.",
		args: []field{
			{name: "command", typ: "string", doc: "Shell command to execute."},
			{name: "cwd", typ: "string", doc: "Working directory for the command.", def: `"."`},
			{name: "timeout", typ: "integer", doc: "Timeout in seconds (capped by max_timeout config).", def: "30"},
		},
		out: []field{
			{name: "stdout", typ: "string", doc: "Standard output from the command."},
			{name: "stderr", typ: "string", doc: "Standard error from the command."},
			{name: "returncode", typ: "integer", doc: "Exit code of the process."},
			{name: "success", typ: "boolean", doc: "True if returncode == 0."},
		},
		in:      translated(opt.ovosRunIn),
		answer:  answered(opt.ovosRunOut),
		refused: worded(ovosRunRefused),
	}}
}

type ovosRun struct {
	Command string      `json:"command"`
	Cwd     string      `json:"cwd"`
	Timeout json.Number `json:"timeout"` // an integer of any size
}

type ovosRunAnswer struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	Returncode int    `json:"returncode"`
	Success    bool   `json:"success"`
}

// notRun is the answer for a command that did not run, or not to its end.
func notRun(why string) *toolcrib.Result {
	return value(ovosRunAnswer{Stderr: why, Returncode: -1})
}

type nativeRun struct {
	Command    string `json:"command"`
	WorkingDir string `json:"working_dir,omitempty"`
	Timeout    int    `json:"timeout"`
}

// A command that cannot start, or has no time to, is answered for without
// running anything. Nothing is to be done for an empty one, but it is judged.
func (opt Options) ovosRunIn(in ovosRun) (any, error) {
	switch {
	case in.Cwd == "":
		return nil, told(toolcrib.CodeInvalid, "run_command", executing("[Errno 2] No such file or directory: ''"))
	case strings.ContainsRune(in.Cwd+in.Command, 0):
		return nil, told(toolcrib.CodeInvalid, "run_command", executing("embedded null byte"))
	}
	limit := opt.seconds(in.Timeout)
	if limit <= 0 {
		return nil, told(toolcrib.CodeTimeout, "run_command", opt.timedOut(in.Timeout))
	}
	native := nativeRun{Command: in.Command, Timeout: int(math.Ceil(limit))}
	if strings.TrimSpace(in.Command) == "" {
		native.Command = ":"
	}
	if in.Cwd != "." {
		native.WorkingDir = in.Cwd
	}
	return native, nil
}

func executing(why string) string { return "Error executing command: " + why }

// seconds is how long a command may run: what was asked for, or the most
// there is.
func (opt Options) seconds(asked json.Number) float64 {
	n, err := asked.Float64()
	if err != nil { // out of range, with the sign it has
		n = math.Inf(1)
		if strings.HasPrefix(asked.String(), "-") {
			n = math.Inf(-1)
		}
	}
	return min(n, opt.MaxTimeout.Seconds(), (24 * time.Hour).Seconds())
}

func (opt Options) timedOut(asked json.Number) string {
	text := asked.String()
	if n := opt.seconds(asked); n > 0 {
		text = strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprintf("Command timed out after %s seconds.", text)
}

// nativeRunOut is how a command went. Signal is the name of the signal that
// ended it; the exit code is minus its number, or 128 more than it.
type nativeRunOut struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  int    `json:"exit_code"`
	Signal    string `json:"signal"`
	TimedOut  bool   `json:"timed_out"`
	Cancelled bool   `json:"cancelled"`
}

// code is the exit code as Python gives it: minus the number of a signal.
func (o *nativeRunOut) code() int {
	if o.Signal != "" && o.ExitCode > 128 {
		return 128 - o.ExitCode
	}
	return o.ExitCode
}

func (opt Options) ovosRunOut(in ovosRun, out *nativeRunOut, failed string) (*toolcrib.Result, error) {
	switch {
	case out == nil && strings.Contains(failed, "was not granted any program to run"):
		return notRun(shellDisabled), nil
	case out == nil && strings.HasSuffix(failed, " is not a directory"):
		return notRun(executing("[Errno 20] Not a directory: " + repr(in.Cwd))), nil
	case out == nil && errno(failed) != "":
		return notRun(executing(errno(failed) + ": " + repr(in.Cwd))), nil
	case out == nil:
		return notRun(executing(failed)), nil
	case out.Cancelled:
		return notRun(executing(cancelled)), nil
	case out.TimedOut:
		return notRun(opt.timedOut(in.Timeout)), nil
	}
	code := out.code()
	return value(ovosRunAnswer{newlines(out.Stdout), newlines(out.Stderr), code, code == 0}), nil
}

// cancelled is what those who asked for a command learn that they, or their person, ended.
const cancelled = "the command was cancelled"

const shellDisabled = "Shell execution is disabled (allow_shell=False)."

// ovosRunRefused words what the shell guard and the directories refuse. For what
// else is refused the original has no words: see [OVOSPlaced].
func ovosRunRefused(in ovosRun, e *toolcrib.Error) *toolcrib.Result {
	switch {
	case errors.Is(e, errTold):
		return notRun(e.Message)
	case errors.Is(e, files.ErrOutside) || errors.Is(e, files.ErrProtected):
		// To a command in the sandbox it is not there.
		return notRun(executing("[Errno 2] No such file or directory: " + repr(in.Cwd)))
	case e.Code == toolcrib.CodeDenied && strings.Contains(e.Message, "running commands is switched off"):
		return notRun(shellDisabled)
	case e.Code == toolcrib.CodeDenied && strings.HasPrefix(e.Message, "shell: "):
		return notRun(notPermitted(in.Command))
	}
	return nil
}

func notPermitted(command string) string {
	first := ""
	if words := strings.Fields(command); len(words) > 0 {
		first = words[0]
	}
	return "Command not permitted by allowed_commands policy: " + repr(first) + "."
}
