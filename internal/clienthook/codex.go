package clienthook

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"

	"github.com/toolcrib/toolcrib"
)

// codex reads the tools of Codex. It gives every way to run a command the name
// Bash.
func (r *reader) codex() ([]Deed, error) {
	switch r.tool {
	case "Bash":
		line, err := r.need("command")
		if err != nil {
			return nil, err
		}
		return r.codexCommand(line)
	case "apply_patch":
		patch, err := r.need("command")
		if err != nil {
			return nil, err
		}
		return r.patched(patch)
	case "view_image":
		return r.onFile("read_file", looks, "path")
	case "update_plan", "get_goal", "create_goal", "update_goal", "tool_search":
		return r.harmless(toolcrib.Pure), nil
	case "request_user_input":
		return r.harmless(toolcrib.AsksPerson), nil
	}
	return nil, nil
}

// Elsewhere is the tool that a command of Codex needs besides if nobody knows in
// which directory it would run.
const Elsewhere = "elsewhere"

// codexCommand finds out where a command would run. Codex has an argument for that
// and does not pass it on to hooks; it stands in the transcript by then.
func (r *reader) codexCommand(line string) ([]Deed, error) {
	call, ok := codexCall(r.near.tail(r.transcript), r.use, line)
	if !ok {
		deeds, err := r.command(line, "")
		return append(deeds, Deed{Box: Codex, Tool: Elsewhere, Input: input("command", line)}), err
	}
	shell, err := call.text("shell")
	if err != nil {
		return nil, err
	}
	switch path.Base(shell) {
	case ".", "sh", "bash", "zsh", "dash":
	default:
		return nil, errors.New("it names a shell of its own, " + shell)
	}
	if dir := path.Dir(shell); dir != "." && dir != "/bin" && dir != "/usr/bin" {
		return nil, errors.New("it names a shell of its own, " + shell)
	}
	dir, err := call.text("workdir")
	if err != nil {
		return nil, err
	}
	return r.command(line, dir)
}

// codexCall finds the arguments of a call in the end of a transcript. The last line
// of that name counts, and it must be about the same command.
func codexCall(transcript []byte, use, line string) (fields, bool) {
	if use == "" {
		return nil, false
	}
	for len(transcript) > 0 {
		end := len(transcript)
		begin := bytes.LastIndexByte(transcript, '\n') + 1
		text := transcript[begin:end]
		transcript = transcript[:max(begin-1, 0)]
		if !bytes.Contains(text, []byte("call_id")) {
			continue
		}
		var entry struct {
			Payload struct {
				Type      string `json:"type"`
				Call      string `json:"call_id"`
				Arguments string `json:"arguments"`
			} `json:"payload"`
		}
		if json.Unmarshal(text, &entry) != nil || entry.Payload.Call != use || entry.Payload.Type != "function_call" {
			continue
		}
		arguments, err := object(json.RawMessage(entry.Payload.Arguments))
		if err != nil {
			return nil, false
		}
		for _, name := range []string{"cmd", "command"} {
			if given, err := arguments.text(name); err == nil && given == line {
				return arguments, true
			}
		}
		return nil, false
	}
	return nil, false
}
