package clienthook

import "github.com/toolcrib/toolcrib"

// codex reads the tools of Codex. It gives every way to run a command the name
// Bash.
func (r *reader) codex() ([]Deed, error) {
	switch r.tool {
	case "Bash":
		line, err := r.need("command")
		if err != nil {
			return nil, err
		}
		dir, err := r.may("workdir")
		if err != nil {
			return nil, err
		}
		return r.command(line, dir)
	case "apply_patch":
		patch, err := r.need("command")
		if err != nil {
			return nil, err
		}
		return r.patched(patch)
	case "view_image":
		return r.onFile("read_file", looks, "path")
	case "update_plan":
		return r.harmless(toolcrib.Pure), nil
	case "request_user_input":
		return r.harmless(toolcrib.AsksPerson), nil
	}
	return nil, nil
}
