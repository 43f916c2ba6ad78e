package clienthook

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"slices"

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

// Elsewhere is the tool that everything needs besides if Codex does not say where it
// was started: what is granted goes by that directory, and the one that comes with a
// call is chosen by the model.
const Elsewhere = "elsewhere"

// codexProject is where a session was started, as its transcript begins. Empty: it
// does not say.
func codexProject(transcript []byte) string {
	first, _, _ := bytes.Cut(transcript, []byte("\n"))
	var entry struct {
		Type    string `json:"type"`
		Payload struct {
			Dir string `json:"cwd"`
		} `json:"payload"`
	}
	if json.Unmarshal(first, &entry) != nil || entry.Type != "session_meta" || !filepath.IsAbs(entry.Payload.Dir) {
		return ""
	}
	return entry.Payload.Dir
}

// codexCommand is a command, which runs in the directory that comes with it. The
// shell that reads it is an argument as well, which hooks are not told; it stands
// in the transcript by then.
func (r *reader) codexCommand(line string) ([]Deed, error) {
	deeds, err := r.command(line, "")
	if err != nil {
		return nil, err
	}
	call, ok := codexCall(r.near.tail(r.transcript), r.use, line)
	if !ok {
		return append(deeds, Deed{Box: Codex, Tool: Elsewhere, Input: input("command", line)}), nil
	}
	shell, err := call.text("shell")
	if err != nil {
		return nil, err
	}
	name, dir := path.Base(shell), path.Dir(shell)
	if shell != "" && (!slices.Contains([]string{"sh", "bash", "dash"}, name) && !(name == "zsh" && r.near.MayBeZsh != nil && r.near.MayBeZsh(Codex)) || !slices.Contains([]string{".", "/bin", "/usr/bin"}, dir)) {
		return nil, errors.New("it names a shell of its own, " + shell)
	}
	return deeds, nil
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
