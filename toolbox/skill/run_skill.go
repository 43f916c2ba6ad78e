package skill

import (
	"context"
	_ "embed" // the description
	"errors"

	"github.com/toolcrib/toolcrib"
)

//go:embed run_skill.md
var runSkillText string

type runIn struct {
	Skill   string `json:"skill" minlen:"1" maxlen:"200" doc:"The skill, as list_skills names it."`
	Task    string `json:"task" doc:"What you want the skill to do."`
	Context string `json:"context,omitempty" doc:"Additional context or constraints."`
}

type runOut struct {
	Result    string `json:"result" doc:"The answer."`
	SkillUsed string `json:"skill_used" doc:"The skill."`
}

// runSkill has a model of ours follow a skill. It is only there with a model;
// what that model may do is settled by whoever gave it: it gets a text and
// gives one.
func (b *Box) runSkill() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "run_skill", Title: "Have a skill carried out", Description: runSkillText,
		Effects: toolcrib.Reads | toolcrib.Network, Group: group,
	}, func(ctx context.Context, _ *toolcrib.Env, in runIn) (out runOut, err error) {
		s, err := b.named(ctx, in.Skill)
		if err != nil {
			return out, err
		}
		files, err := b.needs.Open(s.place)
		if err != nil {
			return out, err
		}
		body, err := b.instructions(files, s)
		if err := errors.Join(err, files.Close()); err != nil {
			return out, err
		}
		task := in.Task
		if in.Context != "" {
			task += "\n\nContext: " + in.Context
		}
		answer, err := b.needs.Model(ctx, body, task)
		return runOut{answer, s.Name}, err
	})
}
