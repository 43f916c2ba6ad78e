package settings

import (
	"time"
)

// Desk sets up where people are asked.
type Desk struct {
	Unattended string        `yaml:"unattended" enum:"auto,refuse,leave,await" doc:"What becomes of a call that a person has to approve where none can be asked. refuse: it is refused. leave: it is refused, and the question waits in toolcrib approvals; once it is answered, the repeated call goes through. await: it waits for an answer for a while, and then as with leave. auto: as with leave."`
	Wait       time.Duration `yaml:"wait" min:"1s" max:"1h" doc:"How long a call awaits an answer from elsewhere, with unattended: await. Most MCP clients give up after 60 s: stay below that."`
	Expire     time.Duration `yaml:"expire" min:"1m" max:"720h" doc:"How long a question can be answered."`
	AnswerFor  time.Duration `yaml:"answer_for" min:"1m" max:"720h" doc:"How long an answer waits for its call to be repeated."`
	SessionFor time.Duration `yaml:"session_for" project:"lower" min:"1m" doc:"How long what was allowed for a session is remembered, at most."`
	ProjectFor time.Duration `yaml:"project_for" project:"lower" min:"1m" doc:"How long what was allowed for a project is remembered."`
	AlwaysFor  time.Duration `yaml:"always_for" doc:"How long what was always allowed is remembered. 0: until it is revoked."`
}

// DefaultDesk is the desk of a fresh machine.
func DefaultDesk() Desk {
	const day = 24 * time.Hour
	return Desk{
		Unattended: "auto", Wait: 50 * time.Second, Expire: 12 * time.Hour, AnswerFor: 12 * time.Hour,
		SessionFor: day, ProjectFor: 90 * day,
	}
}
