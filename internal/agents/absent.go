package agents

import "github.com/toolcrib/toolcrib/internal/settings"

// Absent notes of tools that are not there how one gets them: those that need a model,
// and those that only an agent with delegates has.
func Absent(cfg settings.Config, why map[string]string) {
	if len(cfg.Models) == 0 {
		why["run_skill"] = "a model carries out skills, and none is set up: 'toolcrib models' finds those on this machine, and 'toolcrib models set NAME --base-url URL --model MODEL' adds one"
	}
	for _, a := range cfg.Agents {
		if len(a.Delegates) > 0 {
			return
		}
	}
	if len(cfg.Delegation.Delegates) > 0 {
		return
	}
	for _, name := range []string{"delegate_to_avatar", "spawn_subagent", "chat_with_avatar", "send_message_to_agent", "query_subagent_status", "cancel_subagent", "retry_subagent", "list_avatars", "check_resources"} {
		why[name] = "it is for agents that may put others to work: agents.NAME.delegates in the configuration names those"
	}
}
