package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// OpenVoiceOS has a tool for each SKILL.md: a model of its own follows the
// instructions and answers. Where there is no model, the tool is there and
// fails, as it is and does in the original.
//
// What differs from the original: the first of two skills of one name counts,
// and no skill takes the name of a tool. The original lets the last one have
// it, so that a skill could step in for write_file; here that skill's tool is
// skill_write_file.

// Skill is a skill as callers of OpenVoiceOS see it.
type Skill struct {
	Name, Description string
}

// OVOSSkills gives a tool to each skill. Runs says that the box of skills has
// a model to carry them out, taken which names other tools have. Skills that
// cannot have a tool are told.
func OVOSSkills(skills []Skill, runs bool, taken func(name string) bool) (list []toolcrib.Adapter, left []toolcrib.LoadError) {
	seen := map[string]string{}
	for _, s := range skills {
		name := slug(s.Name)
		if name != "" && taken != nil && taken(name) {
			name = "skill_" + name
		}
		first, twice := seen[name]
		why := ""
		switch {
		case name == "":
			why = "its name has no letter that the name of a tool may have"
		case len(name) > 64:
			why = "its name is too long for a tool"
		case twice:
			why = "the skill " + first + " has the tool " + name + " already"
		case taken != nil && taken(name):
			why = "another tool is called " + name
		}
		if why != "" {
			left = append(left, toolcrib.LoadError{Box: skillBox, Tool: s.Name, Err: skillError(why)})
			continue
		}
		seen[name] = s.Name
		list = append(list, ovosSkill(name, s, runs))
	}
	return list, left
}

const skillBox = "skill"

// skillError says why a skill has no tool.
type skillError string

func (e skillError) Error() string { return "it has no tool for OpenVoiceOS: " + string(e) }

func ovosSkill(name string, s Skill, runs bool) toolcrib.Adapter {
	a := toolcrib.Adapter{
		Foreign: true, Dialect: OVOS, Box: skillBox, Native: "use_skill",
		Spec: toolcrib.Spec{
			Name: name, Description: s.Description,
			Input: model("SkillCallArgs", "Arguments for invoking a SKILL.md-backed tool.\n\nThe I/O contract is intentionally natural-language — the ``task`` is a\nfree-text instruction that the sub-LLM (guided by the SKILL.md body) will\nfulfil.", []field{
				{name: "task", typ: "string", doc: "What you want the skill to do."},
				{name: "context", typ: "string?", doc: "Additional context or constraints for the skill.", def: "null"},
			}),
			Output: model("SkillCallOutput", "Output returned by a SKILL.md-backed tool invocation.", []field{
				{name: "result", typ: "string", doc: "The skill's natural-language response."},
				{name: "skill_used", typ: "string", doc: "Name of the skill that produced the result."},
			}),
		},
		In: func(json.RawMessage) (json.RawMessage, error) {
			return nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: name, Message: fmt.Sprintf("no model is set up to carry out skills; 'toolcrib models set' sets one up, and read_skill_file gives the instructions meanwhile, as SKILL.md of the skill %q", s.Name), Err: errNoModel}
		},
		Out: func(_ json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) { return native, nil },
	}
	if runs {
		a.Native = "run_skill"
		a.In = translated(func(in ovosSkillIn) (any, error) { return nativeSkillRun{s.Name, in.Task, in.Context}, nil })
	}
	return a
}

type ovosSkillIn struct {
	Task    string `json:"task"`
	Context string `json:"context"` // null is none
}

type nativeSkillRun struct {
	Skill   string `json:"skill"`
	Task    string `json:"task"`
	Context string `json:"context,omitempty"`
}

// slug is the name of a skill's tool: lower case, and one _ for everything that
// is no letter or digit of ASCII.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.TrimSuffix(b.String(), "_")
}
