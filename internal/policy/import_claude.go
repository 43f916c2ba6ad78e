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
			im.left(m.key, string(m.value), "it is not about permissions")
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
		im.left(at, string(m.value), "directories are granted by grant.read and grant.write, by a person")
		return
	case "disableBypassPermissionsMode":
		im.left(at, string(m.value), "which modes may be chosen is not a rule")
		return
	default:
		im.left(at, string(m.value), "nothing is known about this key")
		return
	}
	var rules []json.RawMessage
	if err := json.Unmarshal(m.value, &rules); err != nil {
		im.left(at, string(m.value), "it is not a list")
		return
	}
	for i, raw := range rules {
		var text string
		at := fmt.Sprintf("%s[%d]", at, i)
		if err := json.Unmarshal(raw, &text); err != nil {
			im.left(at, string(raw), "it is not a text")
			continue
		}
		im.claudeRule(d, at, text)
	}
}

func (im *importer) claudeMode(at, mode string) {
	switch mode {
	case "default", "manual":
		im.Mode = ModeDefault.String()
	case "acceptEdits":
		im.Mode = ModeAutoEdit.String()
	case "plan":
		im.Mode = ModePlan.String()
	case "bypassPermissions":
		im.Mode = ModeYolo.String()
	default:
		im.left(at, mode, "there is no such mode here")
		return
	}
	im.left(at, mode, "a mode is chosen by a person; it would be "+im.Mode)
}

// claudeRule turns one rule round. A rule about edits is one about every tool
// that changes files.
func (im *importer) claudeRule(d toolcrib.Decision, at, text string) {
	name, spec, scoped := strings.Cut(strings.TrimSpace(text), "(")
	if scoped {
		if !strings.HasSuffix(spec, ")") {
			im.left(at, text, "its bracket is not closed")
			return
		}
		spec = spec[:len(spec)-1]
	}
	var tools []string
	switch name {
	case "Bash":
		tools = []string{"run_command"}
		if spec == "*" || spec == ":*" {
			scoped = false
		}
	case "Read":
		tools = []string{"read_file"}
		if !scoped {
			tools = append(tools, "search_files", "find_files", "list_files")
		}
	case "Edit", "Write", "MultiEdit":
		tools = []string{"edit_file", "write_file"}
		if d != toolcrib.Allow {
			tools = append(tools, "delete_file")
		}
	case "Glob":
		tools = []string{"find_files"}
	case "Grep":
		tools = []string{"search_files"}
	case "LS":
		tools = []string{"list_files"}
	case "WebFetch":
		tools = []string{"web_fetch"}
	case "WebSearch":
		tools = []string{"web_search"}
	case "*":
		tools = []string{"*"}
	default:
		if !strings.HasPrefix(name, "mcp__") {
			im.left(at, text, "there is no tool like "+shellguard.Quote(name))
			return
		}
		tools = []string{name}
	}
	for _, tool := range tools {
		rule := tool
		if scoped {
			s := spec
			if isPathTool(tool) {
				s = claudePath(spec)
			}
			rule += "(" + s + ")"
		}
		if im.put(d, at, text, Condition{Tool: rule}) && name == "Read" && scoped && d != toolcrib.Allow {
			im.partly(at, text, "searches are not held by it: what must not be read at all belongs into grant.protected")
		}
	}
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
