package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
)

type memoryAppend struct {
	Target  string `json:"target"`
	Content string `json:"content"`
	Scope   string `json:"scope"`
}

func (in memoryAppend) plain() memoryAppend {
	return memoryAppend{strings.ToLower(strings.TrimSpace(in.Target)), strings.TrimSpace(in.Content), cmp.Or(strings.ToLower(strings.TrimSpace(in.Scope)), "subject")}
}

func memoryAppendIn(given memoryAppend) (any, error) {
	in, wrong := given.plain(), ""
	switch {
	case in.Target != "daily" && in.Target != "long_term":
		wrong = "target must be daily or long_term"
	case in.Scope != "subject" && in.Scope != "user_global":
		wrong = "scope must be subject or user_global"
	case in.Content == "":
		wrong = "content is required"
	case in.Scope == "user_global" && in.Target != "long_term":
		wrong = "user_global scope only supports target=long_term"
	}
	if wrong != "" {
		return nil, told(toolcrib.CodeInvalid, "memory_append", wrong)
	}
	in.Scope = map[string]string{"subject": "agent", "user_global": "user"}[in.Scope]
	return in, nil
}

func memoryAppendOut(given memoryAppend, out *struct {
	Untrusted string
	Notes     []string
}, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return agenticxFailed(failed), nil
	}
	in := given.plain()
	said := []string{"OK: appended to " + in.Target + " (scope=" + in.Scope + ")"}
	if out.Untrusted != "" {
		said = append(said, "It is marked as [untrusted: "+out.Untrusted+"]")
	}
	return toolcrib.Text(strings.Join(append(said, out.Notes...), "\n")), nil
}

type memorySearch struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

func memorySearchIn(in memorySearch) (any, error) {
	if in.Query = strings.TrimSpace(in.Query); in.Query == "" {
		return nil, told(toolcrib.CodeInvalid, "memory_search", "query is required")
	}
	in.Limit = max(1, min(cmp.Or(in.Limit, 5), 20))
	return in, nil
}

type nativeFound struct {
	Notes []struct {
		Text, By, Warning, File string
		Score                   float64
	}
	Skipped []string
}

func memorySearchOut(_ memorySearch, out *nativeFound, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return agenticxFailed("memory search failed: " + failed), nil
	}
	var lines []string
	for i, n := range out.Notes {
		text := []rune(strings.ReplaceAll(n.Text, "\n", " "))
		short := string(text)
		if len(text) > 240 {
			short = string(text[:240]) + "..."
		}
		if n.By == "untrusted" {
			mark, _, _ := strings.Cut(n.Warning, "]")
			short = mark + "] " + short
		}
		lines = append(lines, fmt.Sprintf("%d. score=%s path=%s text=%s", i+1, strconv.FormatFloat(n.Score, 'f', -1, 64), n.File, short))
	}
	if len(lines) == 0 {
		lines = []string{"No memory matches."}
	}
	for _, s := range out.Skipped {
		lines = append(lines, "(skipped: "+s+")")
	}
	return toolcrib.Text(strings.Join(lines, "\n")), nil
}

type skillUse struct {
	Name string `json:"name"`
}

func (in skillUse) missing() string {
	return "skill activation failed. Skill '" + in.Name + "' was not found in the skill index. Run skill_list for discoverable names."
}

func skillUseIn(in skillUse) (any, error) {
	if in.Name = strings.TrimSpace(in.Name); in.Name == "" {
		return nil, told(toolcrib.CodeInvalid, "skill_use", "missing skill name")
	}
	return in, nil
}

// skillUseRefused: the contract of the native tool lists the skills there are.
func skillUseRefused(in skillUse, e *toolcrib.Error) *toolcrib.Result {
	if e.Code != toolcrib.CodeInvalid || errors.Is(e, errTold) {
		return nil
	}
	return agenticxFailed(in.missing())
}

func skillUseOut(in skillUse, out *struct{ Name, Instructions, Scope, Directory, Scratch string }, failed string) (*toolcrib.Result, error) {
	switch {
	case out == nil && strings.HasPrefix(failed, "there is no skill"):
		return agenticxFailed(in.missing()), nil
	case out == nil:
		return agenticxFailed("skill activation failed. " + failed), nil
	}
	dirs := "base_dir=" + out.Directory
	if out.Scratch != "" {
		dirs += ", scratch_dir=" + out.Scratch // AgenticX has none, and lets commands write anywhere
	}
	return toolcrib.Text(fmt.Sprintf("OK: activated skill '%s'. source=%s, location=%s, %s\n\n%s", out.Name, out.Scope, skillLocation(out.Scope), dirs, out.Instructions)), nil
}

// skillLocation is the word of AgenticX for where a skill comes from.
func skillLocation(scope string) string {
	if scope == "project" {
		return "project"
	}
	return "global"
}

func skillListOut(_ struct{}, out *struct {
	Skills  []struct{ Name, Description, Scope string }
	LeftOff int `json:"left_off"`
}, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return agenticxFailed("list skill failed: " + failed), nil
	}
	lines := []string{}
	for _, s := range out.Skills {
		lines = append(lines, fmt.Sprintf("- %s: %s [source=%s, location=%s, base_dir=]", s.Name, s.Description, s.Scope, skillLocation(s.Scope)))
	}
	switch {
	case len(lines) == 0:
		lines = append(lines, "No skills found.")
	case out.LeftOff > 0:
		lines = append(lines, fmt.Sprintf("... (truncated, %d more skills)", out.LeftOff))
	}
	return toolcrib.Text(strings.Join(lines, "\n")), nil
}
