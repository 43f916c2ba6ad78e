package delegate

import (
	"context"
	_ "embed" // the descriptions
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed query_subagent_status.md
var querySubagentStatusText string

//go:embed cancel_subagent.md
var cancelSubagentText string

//go:embed retry_subagent.md
var retrySubagentText string

//go:embed check_resources.md
var checkResourcesText string

//go:embed list_avatars.md
var listAvatarsText string

// longest is how long a call waits for work to end.
const longest = 9 * time.Minute

type queryIn struct {
	ID   string `json:"agent_id,omitempty" maxlen:"200" doc:"Who it is about: sa-…, dlg-…, or the name. Left out: all."`
	Wait int    `json:"wait_seconds,omitempty" min:"0" max:"540" doc:"Wait this long for it to end, or with no agent_id for all."`
}

type queryOut struct {
	OK      bool           `json:"ok" doc:"It was found."`
	One     *Status        `json:"subagent,omitempty" doc:"How it is doing."`
	All     []Status       `json:"subagents,omitempty" doc:"How all are doing."`
	Summary map[string]int `json:"summary,omitempty" doc:"How many there are, by status."`
	Error   string         `json:"error,omitempty" doc:"Why not, in a word."`
	Message string         `json:"message,omitempty" doc:"Why not."`
}

func (b box) querySubagentStatus() toolcrib.Tool {
	return define("query_subagent_status", "How work is going", querySubagentStatusText, longest+time.Minute/2, func(ctx context.Context, call toolcrib.Call, in queryIn) (queryOut, error) {
		list, err := b.team.Status(ctx, call, in.ID, min(time.Duration(in.Wait)*time.Second, longest))
		if err != nil {
			return queryOut{Error: word(err), Message: err.Error()}, err
		}
		if in.ID != "" && len(list) == 1 {
			return queryOut{OK: true, One: &list[0]}, nil
		}
		out := queryOut{OK: true, All: list, Summary: map[string]int{"total": len(list), "running": 0, "pending": 0, "completed": 0, "failed": 0, "cancelled": 0}}
		for _, s := range list {
			out.Summary[s.State]++
		}
		return out, nil
	})
}

type idIn struct {
	ID string `json:"agent_id" minlen:"1" maxlen:"200" doc:"Who it is about: sa-…, dlg-…, or the name."`
}

type changeOut struct {
	OK      bool   `json:"ok" doc:"It was done."`
	ID      string `json:"agent_id,omitempty" doc:"Who it was about."`
	State   string `json:"status,omitempty" doc:"How it is doing now."`
	Error   string `json:"error,omitempty" doc:"Why not, in a word."`
	Message string `json:"message,omitempty" doc:"Why not."`
}

func changed(s Status, err error) (changeOut, error) {
	if err != nil {
		return changeOut{Error: word(err), Message: err.Error()}, err
	}
	return changeOut{OK: true, ID: s.ID, State: s.State}, nil
}

func (b box) cancelSubagent() toolcrib.Tool {
	return define("cancel_subagent", "End an agent's work", cancelSubagentText, time.Minute, func(_ context.Context, call toolcrib.Call, in idIn) (changeOut, error) {
		return changed(b.team.Cancel(call, in.ID))
	})
}

type retryIn struct {
	ID   string `json:"agent_id" minlen:"1" maxlen:"200" doc:"Who it is about: sa-…, dlg-…, or the name."`
	Task string `json:"task,omitempty" maxlen:"100000" doc:"A better task. Left out: the one it had."`
}

func (b box) retrySubagent() toolcrib.Tool {
	return define("retry_subagent", "Have an agent try again", retrySubagentText, time.Minute, func(ctx context.Context, call toolcrib.Call, in retryIn) (changeOut, error) {
		return changed(b.team.Retry(ctx, call, in.ID, in.Task))
	})
}

type noneIn struct{}

type checkOut struct {
	OK         bool     `json:"ok" doc:"It was looked at."`
	Check      checkHas `json:"check" doc:"What was found."`
	Suggestion string   `json:"suggestion" doc:"What to make of it."`
}

type checkHas struct {
	Allowed bool       `json:"allowed" doc:"There is room for one more."`
	Reasons []string   `json:"reasons" doc:"Why there is none."`
	Stats   checkStats `json:"stats" doc:"The numbers."`
}

type checkStats struct {
	CPU     float64 `json:"cpu_percent" doc:"How busy the processors are; 0 where it is not known."`
	Memory  float64 `json:"memory_percent" doc:"How full the memory is; 0 where it is not known."`
	Working int     `json:"active_subagents" doc:"How many agents work for you."`
}

func (b box) checkResources() toolcrib.Tool {
	return define("check_resources", "How busy this machine is", checkResourcesText, time.Minute, func(_ context.Context, call toolcrib.Call, _ noneIn) (checkOut, error) {
		l := b.team.Load(call.Caller)
		out := checkOut{OK: true, Check: checkHas{Allowed: len(l.Reasons) == 0, Reasons: l.Reasons, Stats: checkStats{l.CPU, l.Memory, l.Working}}, Suggestion: "There is room for another agent."}
		if !out.Check.Allowed {
			out.Suggestion = "Wait until those that work have ended: query_subagent_status with wait_seconds."
		}
		return out, nil
	})
}

type avatarsOut struct {
	OK      bool     `json:"ok" doc:"They were looked up."`
	Count   int      `json:"count" doc:"How many there are."`
	Avatars []Avatar `json:"avatars" doc:"The agents that you can put to work."`
}

func (b box) listAvatars() toolcrib.Tool {
	return define("list_avatars", "Agents to put to work", listAvatarsText, time.Minute, func(_ context.Context, call toolcrib.Call, _ noneIn) (avatarsOut, error) {
		list := b.team.Avatars(call.Caller)
		return avatarsOut{OK: true, Count: len(list), Avatars: list}, nil
	})
}
