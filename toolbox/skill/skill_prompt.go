package skill

import (
	"context"
	_ "embed" // the description
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed skill_prompt.md
var skillPromptText string

type promptIn struct {
	Skill string `json:"skill" minlen:"1" maxlen:"200" doc:"The skill, as list_skills names it."`
	Task  string `json:"task,omitempty" maxlen:"65536" doc:"What to do by it."`
}

// promptOut is a prompt as MCP shows it.
type promptOut struct {
	Description string          `json:"description" doc:"What the skill is for, in the words of its author."`
	Messages    []promptMessage `json:"messages" doc:"What the model is told."`
	Meta        promptMeta      `json:"_meta" doc:"What programs are told."`
}

type promptMeta struct {
	Trusted bool `json:"toolcrib/trusted" doc:"A person of this machine wrote or installed the skill, and it has not changed since."`
}

type promptMessage struct {
	Role    string     `json:"role" doc:"Who says it."`
	Content promptText `json:"content" doc:"What is said."`
}

type promptText struct {
	Type string `json:"type" doc:"What it is: text."`
	Text string `json:"text" doc:"The text."`
}

// skillPrompt gives a skill as a prompt, for programs that show people a list of prompts. It is then in use, as with
// use_skill.
func (b *Box) skillPrompt() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "skill_prompt", Title: "A skill as a prompt", Description: skillPromptText,
		Effects: toolcrib.Reads, Group: b.cfg.Screens, Idempotent: true,
	}, func(ctx context.Context, env *toolcrib.Env, in promptIn) (promptOut, error) {
		s, err := b.named(ctx, in.Skill)
		if err != nil {
			return promptOut{}, err
		}
		used, err := b.begin(ctx, env.Call.Caller, s)
		if err != nil {
			return promptOut{}, err
		}
		out := promptOut{Description: s.Description, Meta: promptMeta{used.Trusted}}
		for _, text := range used.prompt(strings.TrimSpace(in.Task)) {
			out.Messages = append(out.Messages, promptMessage{"user", promptText{"text", text}})
		}
		return out, nil
	})
}

// prompt is what a model is told. Beside a text of others the task, which is the person's own,
// stands apart.
func (u *useOut) prompt(task string) []string {
	var out strings.Builder
	if u.Trusted {
		fmt.Fprintf(&out, "Follow the skill %s, whose directory is %s.", u.Name, u.Directory)
	} else {
		fmt.Fprintf(&out, "This is the skill %s, whose directory is %s.", u.Name, u.Directory)
	}
	if len(u.Files) > 0 {
		fmt.Fprintf(&out, " Further files of it, for read_skill_file: %s.", strings.Join(u.Files, ", "))
	}
	if u.Scratch != "" {
		fmt.Fprintf(&out, " Its commands can write %s, which is removed afterwards.", u.Scratch)
	}
	fmt.Fprintf(&out, "\n\n%s\n", strings.TrimSpace(u.Instructions))
	switch {
	case task != "" && !u.Trusted:
		return []string{out.String(), fmt.Sprintf("The task: %s\n", task)}
	case task != "":
		fmt.Fprintf(&out, "\nThe task: %s\n", task)
	}
	return []string{out.String()}
}
