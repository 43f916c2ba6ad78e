package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// ImportClaude reads the settings.json of Claude Code.
func ImportClaude(data []byte) (Imported, error) {
	im, err := newImporter(data)
	if err != nil {
		return Imported{}, err
	}
	top, err := members(withoutComments(data))
	if err != nil {
		return Imported{}, fmt.Errorf("reading settings.json: %w", err)
	}
	for _, m := range top {
		if m.key != "permissions" {
			im.setAside(m.key, string(m.value), "it is not about permissions")
			continue
		}
		inner, err := members(m.value)
		if err != nil {
			return Imported{}, fmt.Errorf("reading permissions: %w", err)
		}
		for _, p := range inner {
			im.claudeKey(p)
		}
	}
	return im.Imported, nil
}

func (im *importer) claudeKey(m member) {
	at := "permissions." + m.key
	d := toolcrib.Deny
	switch m.key {
	case "deny":
	case "ask":
		d = toolcrib.Ask
	case "allow":
		d = toolcrib.Allow
	case "defaultMode":
		var mode string
		_ = json.Unmarshal(m.value, &mode) // what is no text is no mode that is known
		im.claudeMode(at, mode)
		return
	case "additionalDirectories":
		im.leaveOut(at, string(m.value), "directories are granted by grant.read and grant.write, by a person")
		return
	case "disableBypassPermissionsMode":
		im.leaveOut(at, string(m.value), "which modes may be chosen is not a rule")
		return
	default:
		im.leaveOut(at, string(m.value), "nothing is known about this key")
		return
	}
	var rules []json.RawMessage
	if err := json.Unmarshal(m.value, &rules); err != nil {
		im.leaveOut(at, string(m.value), "it is not a list")
		return
	}
	for i, raw := range rules {
		var text string
		at := fmt.Sprintf("%s[%d]", at, i)
		if err := json.Unmarshal(raw, &text); err != nil {
			im.leaveOut(at, string(raw), "it is not a text")
			continue
		}
		im.claudeRule(d, at, text)
	}
}

func (im *importer) claudeMode(at, mode string) {
	ours, ok := map[string]Mode{"default": ModeDefault, "manual": ModeDefault, "acceptEdits": ModeAutoEdit, "plan": ModePlan, "bypassPermissions": ModeYolo}[mode]
	if !ok {
		im.leaveOut(at, mode, "there is no such mode here")
		return
	}
	im.Mode = ours.String()
	im.leaveOut(at, mode, "a mode is chosen by a person; it would be "+im.Mode)
}

// claudeTools are the tools of ours that one of Claude Code's stands for; nil: none is
// like it.
func claudeTools(name string) []string {
	return map[string][]string{
		"Bash": {"run_command"}, "Read": {"read_file"}, "Edit": {"edit_file", "write_file"}, "Write": {"edit_file", "write_file"}, "MultiEdit": {"edit_file", "write_file"},
		"Glob": {"find_files"}, "Grep": {"search_files"}, "LS": {"list_files"}, "WebFetch": {"web_fetch"}, "WebSearch": {"web_search"}, "*": {"*"},
	}[name]
}

// claudeRule turns one rule round. A rule about edits is one about every tool
// that changes files.
func (im *importer) claudeRule(d toolcrib.Decision, at, text string) {
	name, spec, scoped := strings.Cut(strings.TrimSpace(text), "(")
	if scoped {
		if !strings.HasSuffix(spec, ")") {
			im.leaveOut(at, text, "its bracket is not closed")
			return
		}
		spec = spec[:len(spec)-1]
	}
	tools := claudeTools(name)
	switch {
	case name == "Bash" && (spec == "*" || spec == ":*"):
		scoped = false
	case name == "Read" && !scoped:
		tools = append(tools, "search_files", "find_files", "list_files")
	case len(tools) == 2 && d != toolcrib.Allow: // what edits
		tools = append(tools, "delete_file")
	case tools == nil && !strings.HasPrefix(name, "mcp__"):
		im.leaveOut(at, text, "there is no tool like "+shellguard.Quote(name))
		return
	case tools == nil:
		tools = []string{name}
	}
	for _, tool := range tools {
		rule := tool
		if scoped {
			s := spec
			switch {
			case isPathTool(tool):
				s = claudePath(spec)
			case tool == "run_command":
				s = im.claudeCommand(d, at, text, spec)
			}
			rule += "(" + s + ")"
		}
		if im.addRule(d, at, text, Condition{Tool: rule}) && name == "Read" && scoped && d != toolcrib.Allow {
			im.partly(at, text, "searches are not held by it: what must not be read at all belongs into grant.protected")
		}
	}
}

// claudeCommand is a command as it was meant there: exactly these words, or these as
// whole words and any others behind them ("npm run *", "npm run:*"). A * glued to the
// last word took longer words too, which is more than is carried over.
func (im *importer) claudeCommand(d toolcrib.Decision, at, text, spec string) string {
	spec = strings.TrimSpace(spec)
	if cut, glued := strings.CutSuffix(spec, "*"); d == toolcrib.Allow && glued && strings.Contains(cut, " ") && !strings.ContainsAny(cut, "*") && !strings.HasSuffix(cut, " ") && !strings.HasSuffix(cut, ":") {
		im.partly(at, text, "there the * took longer words as well; here the last word is a whole one")
		spec = cut + " *"
	}
	return exactly(d, spec)
}

// claudePath: two slashes are the top of the file system, one is the folder of
// the settings, which is the project.
func claudePath(spec string) string {
	switch {
	case strings.HasPrefix(spec, "//"):
		return spec[1:]
	case strings.HasPrefix(spec, "/"):
		return "." + spec
	}
	return spec
}
