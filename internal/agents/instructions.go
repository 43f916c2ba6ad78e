package agents

import (
	"context"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// instructions is what an agent's model is told before everything else: what the preset
// says, what there is here, which skills it has, and that it has a memory. What was remembered is not put in front of it: it
// may have come from anywhere, and memory_search says from where.
func (a *Agents) instructions(ctx context.Context, o Options, preset settings.Agent) string {
	var parts []string
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	add(preset.Instructions)
	add(o.Extra)
	if a.needs.Told != nil {
		add(a.needs.Told(o.Caller))
	}
	if a.needs.Skills != nil && len(preset.Skills) > 0 {
		add(tellSkills(a.needs.Skills(ctx), preset.Skills))
	}
	if _, has := a.needs.Crib.Tool(o.Caller, "memory_search"); has && preset.Memory {
		add(remember)
	}
	return strings.Join(parts, "\n\n")
}

const remember = "You have a memory that outlives this conversation: look into it with memory_search before you begin, and write down with memory_append what should be known next time."

// tellSkills lists the skills of these names. * is all of the person's: what a project
// brings speaks to a model in nobody's name, unless the person names it.
func tellSkills(there []Skill, names []string) string {
	var b strings.Builder
	for _, s := range there {
		if !slices.Contains(names, s.Name) && (!s.Own || !slices.Contains(names, "*")) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("There are skills, texts that tell how to go about something. Read one with use_skill before you do what it is for:")
		}
		b.WriteString("\n- " + text.ShowLine(s.Name) + ": " + text.Clip(text.ShowLine(s.Description), maxSkillText))
	}
	return b.String()
}

// maxSkillText is how much of a skill's description a model is told.
const maxSkillText = 300
