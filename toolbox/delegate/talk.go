package delegate

import (
	"context"
	_ "embed" // the descriptions
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed chat_with_avatar.md
var chatWithAvatarText string

//go:embed send_message_to_agent.md
var sendMessageToAgentText string

type chatIn struct {
	Avatar  string `json:"avatar_id" minlen:"1" maxlen:"200" doc:"The agent, as list_avatars names it."`
	Message string `json:"message" minlen:"1" maxlen:"100000" doc:"What it is asked, with all that it has to know."`
	Relay   string `json:"relay_mode,omitempty" enum:"verbatim,summary" default:"summary" doc:"Whether relay_text is the whole answer or its beginning."`
}

type chatAvatar struct {
	ID   string `json:"id" doc:"The agent."`
	Name string `json:"name" doc:"What it is called."`
	Role string `json:"role" doc:"What it is for."`
}

type chatOut struct {
	OK      bool        `json:"ok" doc:"It answered."`
	Avatar  *chatAvatar `json:"avatar,omitempty" doc:"Who answered."`
	Model   string      `json:"model,omitempty" doc:"The model it thinks with."`
	Relay   string      `json:"relay_mode,omitempty" doc:"As it was given."`
	Reply   string      `json:"reply,omitempty" doc:"Its answer."`
	Text    string      `json:"relay_text,omitempty" doc:"The answer as it can be passed on."`
	Error   string      `json:"error,omitempty" doc:"Why not, in a word."`
	Message string      `json:"message,omitempty" doc:"Why not."`
}

// relayed is how much of an answer a summary is, in letters.
const relayed = 280

func (b box) chatWithAvatar() toolcrib.Tool {
	return define("chat_with_avatar", "Ask an agent", chatWithAvatarText, 5*time.Minute, func(ctx context.Context, call toolcrib.Call, in chatIn) (chatOut, error) {
		reply, err := b.team.Ask(ctx, call, in.Avatar, in.Message)
		if err != nil {
			return chatOut{Error: word(err), Message: err.Error()}, err
		}
		out := chatOut{OK: true, Avatar: &chatAvatar{reply.Avatar.ID, reply.Avatar.Name, reply.Avatar.Role}, Model: reply.Model, Relay: in.Relay, Reply: reply.Text, Text: reply.Text}
		if in.Relay == "summary" {
			out.Text = text.Clip(strings.Join(strings.Fields(reply.Text), " "), relayed)
		}
		return out, nil
	})
}

type sendIn struct {
	ID      string `json:"agent_id" minlen:"1" maxlen:"200" doc:"Who it is for: sa-…, dlg-…, or the name."`
	Message string `json:"message" minlen:"1" maxlen:"100000" doc:"What it is told."`
}

func (b box) sendMessageToAgent() toolcrib.Tool {
	return define("send_message_to_agent", "Tell an agent more", sendMessageToAgentText, time.Minute, func(ctx context.Context, call toolcrib.Call, in sendIn) (changeOut, error) {
		s, err := b.team.Tell(ctx, call, in.ID, in.Message)
		return changed(s, err)
	})
}
