package clienthook

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// gemini reads the tools of Gemini CLI.
func (r *reader) gemini() ([]Deed, error) {
	switch r.tool {
	case "run_shell_command":
		line, err := r.need("command")
		if err != nil {
			return nil, err
		}
		dir, err := r.may("dir_path")
		if err != nil {
			return nil, err
		}
		if dir == "" { // its older name
			if dir, err = r.may("directory"); err != nil {
				return nil, err
			}
		}
		return r.command(line, dir)
	case "write_file":
		return r.onFile("write_file", changes, "file_path", "content", "content")
	case "replace":
		return r.onFile("edit_file", changes, "file_path", "old_text", "old_string", "new_text", "new_string")
	case "read_file":
		return r.onFile("read_file", looks, "file_path")
	case "list_directory":
		return r.onFile("list_files", looks, "dir_path")
	case "glob":
		return r.globbed("dir_path")
	case "grep_search", "search_file_content":
		return r.grepped()
	case "read_many_files":
		return r.manyFiles()
	case "google_web_search":
		query, err := r.need("query")
		return webSearch(query), err
	case "web_fetch":
		return r.addresses()
	case "write_todos", "complete_task", "update_topic", "get_internal_docs", "activate_skill", "invoke_agent",
		"tracker_create_task", "tracker_update_task", "tracker_get_task", "tracker_list_tasks", "tracker_add_dependency", "tracker_visualize":
		return r.harmless(toolcrib.Pure), nil
	case "ask_user", "enter_plan_mode", "exit_plan_mode":
		return r.harmless(toolcrib.AsksPerson), nil
	}
	return nil, nil
}

// grepped is grep_search, which hands its pattern to git, grep or ripgrep. To git it is a
// pathspec, which can lead out of the directory that is searched.
func (r *reader) grepped() ([]Deed, error) {
	names, err := r.may("include_pattern")
	if err != nil {
		return nil, err
	}
	elems := strings.FieldsFunc(names, func(c rune) bool { return c == '/' || c == '\\' })
	if strings.HasPrefix(names, ":") || filepath.IsAbs(names) || slices.Contains(elems, "..") {
		return nil, fmt.Errorf("the pattern %q may lead out of the directory; give dir_path, and a pattern of names such as *.go", names)
	}
	return r.searched("dir_path", "include_pattern")
}

// manyFiles is read_many_files, which takes paths and patterns. A backslash is a slash in
// them, as the client has it.
func (r *reader) manyFiles() ([]Deed, error) {
	var include []string
	if r.in == nil || json.Unmarshal(r.in["include"], &include) != nil || len(include) == 0 || len(include) > 64 {
		return nil, errors.New("include is no list of 1 to 64 paths")
	}
	var out []Deed
	for _, path := range include {
		var deeds []Deed
		var err error
		path = strings.ReplaceAll(path, `\`, "/")
		if magic(path) >= 0 {
			deeds, err = r.found(searchFiles, "file_pattern", "", path) // it reads what it finds
		} else {
			deeds, err = r.one("read_file", looks, path)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, deeds...)
	}
	return out, nil
}

// addresses is web_fetch, which takes a text with addresses in it.
func (r *reader) addresses() ([]Deed, error) {
	prompt, err := r.may("prompt")
	if err != nil {
		return nil, err
	}
	url, err := r.may("url")
	if err != nil {
		return nil, err
	}
	found := regexp.MustCompile(`(?i)https?://[^\s"'<>]+`).FindAllString(prompt, 21) // rarely needed, and then once
	if url != "" {
		found = append(found, url)
	}
	if len(found) == 0 || len(found) > 20 {
		return nil, errors.New("there are no addresses in it, or too many")
	}
	var out []Deed
	for _, u := range found {
		out = append(out, fetch(strings.TrimRight(u, ".,;:)]}")))
	}
	return out, nil
}
