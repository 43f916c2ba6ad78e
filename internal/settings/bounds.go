package settings

import (
	"fmt"
	"slices"
	"time"
)

// SafetyBounds sets up how much calls may use, and what is done with results
// that are too long.
type SafetyBounds struct {
	Text      int64                    `yaml:"text" unit:"bytes" project:"lower" min:"4KiB" max:"64MiB" doc:"The longest text, and the longest value, of a result that goes to a model. Of more, beginning and end are given and read_artifact pages through the rest. Results for toolcrib call, and of tools that tools use, are not cut."`
	Depth     int                      `yaml:"depth" project:"lower" min:"4" max:"1000" doc:"How deep the arguments and the value of a call may be nested."`
	Artifacts SafetyArtifacts          `yaml:"artifacts" doc:"What is kept of results that were cut. Only the session that it came up in can read it."`
	Retry     SafetyRetry              `yaml:"retry" doc:"Trying again what is not available just now. It is done only where a second run does no harm: tools that only read, that say they are repeatable, or that had not begun."`
	Timeouts  map[string]time.Duration `yaml:"timeouts" doc:"How long tools may run, by tool or selector (web_fetch, mcp__github, group:web). A tool that names a time of its own can only get less; limits.max_timeout bounds all."`
	Loops     SafetyLoops              `yaml:"loops" doc:"Agents that go in circles: the same calls with the same answers in one session."`
	Budgets   []SafetyBudget           `yaml:"budgets" project:"add" doc:"Bounds on what calls may use together. Every one that is about a call counts."`
	Prices    map[string]float64       `yaml:"prices" project:"add" doc:"What a call costs, by tool or selector, in the unit that budgets count money in. Of several the highest counts."`
}

// SafetyArtifacts bounds what is kept. A project has no say in how much: the
// directory is that of all projects.
type SafetyArtifacts struct {
	Enabled   bool          `yaml:"enabled" project:"off" doc:"Keep what is cut from results, and offer read_artifact."`
	PerCaller int64         `yaml:"per_caller" unit:"bytes" min:"64KiB" doc:"How much is kept for one session; the oldest make room."`
	Total     int64         `yaml:"total" unit:"bytes" min:"64KiB" doc:"How much is kept in all."`
	MaxAge    time.Duration `yaml:"max_age" min:"1m" doc:"How long it is kept."`
}

// SafetyRetry sets up retries.
type SafetyRetry struct {
	Max   int            `yaml:"max" project:"lower" min:"0" max:"10" doc:"How often a tool is tried again."`
	Delay time.Duration  `yaml:"delay" min:"1ms" max:"30s" doc:"The wait before the second attempt, doubled before each next one, with some chance in it."`
	Tools map[string]int `yaml:"tools" doc:"How often for some tools, by tool or selector. Of several the lowest counts."`
}

// SafetyLoops sets up when repeated calls are noticed.
type SafetyLoops struct {
	Enabled bool     `yaml:"enabled" project:"on" doc:"Watch for repeated calls."`
	Note    int      `yaml:"note" project:"lower" min:"2" max:"32" doc:"From which repetition on the result says so."`
	Stop    int      `yaml:"stop" project:"lower" min:"2" max:"32" doc:"From which on the call is stopped, until the session does something else."`
	With    string   `yaml:"with" enum:"deny,ask" doc:"How it is stopped: denied, or a person is asked."`
	Except  []string `yaml:"except" project:"drop" doc:"Tools that may be called again and again without news, by tool or selector: those that one waits with."`
}

// SafetyBudget is one bound.
type SafetyBudget struct {
	Name    string        `yaml:"name" doc:"How refusals call it."`
	For     SafetyFor     `yaml:"for" doc:"Which calls it is about."`
	Each    []string      `yaml:"each" enum:"subject,agent,session,organisation,tool" doc:"What is counted apart. Empty: all these calls together."`
	Per     time.Duration `yaml:"per" doc:"The time that the totals are for, such as 1h: in no stretch of that length is more used."`
	Calls   int64         `yaml:"calls" doc:"How many calls. 0: no bound; so for the others."`
	Seconds float64       `yaml:"seconds" doc:"How many seconds of running tools."`
	Bytes   int64         `yaml:"bytes" unit:"bytes" doc:"How much they may answer."`
	Money   float64       `yaml:"money" doc:"What they may cost, by prices, and by the prices of models."`
	Tokens  int64         `yaml:"tokens" doc:"How many tokens models may read and write."`
	Rate    float64       `yaml:"rate" doc:"How many calls a minute, evenly."`
	Burst   int           `yaml:"burst" doc:"How many of them at once. 0: one."`
}

// SafetyFor picks calls.
type SafetyFor struct {
	Subject      string   `yaml:"subject" doc:"Who calls: a name, or a pattern with * and ?. Empty: anyone; so for the others."`
	Agent        string   `yaml:"agent" doc:"The agent preset."`
	Session      string   `yaml:"session" doc:"The session."`
	Organisation string   `yaml:"organisation" doc:"The organisation."`
	Tools        []string `yaml:"tools" doc:"Tools or selectors, such as web_* or group:web. Empty: all."`
}

// DefaultBounds is what a fresh machine does: no budgets, everything else on.
func DefaultBounds() SafetyBounds {
	return SafetyBounds{
		Text: 100_000, Depth: 128,
		Artifacts: SafetyArtifacts{Enabled: true, PerCaller: 64 << 20, Total: 512 << 20, MaxAge: 24 * time.Hour},
		Retry:     SafetyRetry{Max: 2, Delay: 200 * time.Millisecond},
		Loops:     SafetyLoops{Enabled: true, Note: 5, Stop: 10, With: "deny", Except: []string{"shell/command_output"}},
	}
}

// OwnNames gives budgets of a project that nobody trusted names of ours: refusals
// tell them to the model, which must not hear the project's words as Toolcrib's.
func (l *Layers) OwnNames(budgets []SafetyBudget) []SafetyBudget {
	if l == nil {
		return budgets
	}
	var theirs []SafetyBudget
	for _, from := range append([]Config{l.Project}, l.Outer...) {
		theirs = append(theirs, from.Bounds.Budgets...)
	}
	if len(theirs) == 0 {
		return budgets
	}
	budgets = slices.Clone(budgets)
	for i := range budgets {
		own := func(b SafetyBudget) bool { return b.Name == budgets[i].Name }
		if !slices.ContainsFunc(l.User.Bounds.Budgets, own) && !slices.ContainsFunc(l.Admin.Bounds.Budgets, own) && slices.ContainsFunc(theirs, own) {
			budgets[i].Name = fmt.Sprintf("%d (of the project)", i+1)
		}
	}
	return budgets
}
