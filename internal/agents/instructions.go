package agents

import (
	"context"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// instructions is what an agent's model is told before everything else: what the preset
// says, what there is here, which skills it has and what is remembered.
func (a *Agents) instructions(ctx context.Context, o Options, preset settings.Agent) string {
	var parts []string
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	add(preset.Instructions)
	add(o.extra)
	if a.needs.Told != nil {
		add(a.needs.Told(o.Caller))
	}
	if a.needs.Skills != nil && len(preset.Skills) > 0 {
		add(a.needs.Skills(ctx, preset.Skills))
	}
	if a.needs.Memory != nil && preset.Memory {
		add(a.needs.Memory(o.Caller))
	}
	return strings.Join(parts, "\n\n")
}
