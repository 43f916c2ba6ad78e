package chatui

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/model"
)

// echo prints what a person said.
func (c *chat) echo(given string) {
	if c.last != blockNone {
		c.last = blockNote // always a gap before it
	}
	var rows []line
	for i, l := range strings.Split(strings.TrimRight(given, "\n"), "\n") {
		head := line{{plain, strings.Repeat(" ", width(c.signs.prompt))}}
		if i == 0 {
			head = line{{title, c.signs.prompt}}
		}
		rows = append(rows, head.and(say(bold, l)).wrap(c.wide, line{{plain, strings.Repeat(" ", width(c.signs.prompt))}})...)
	}
	c.put(blockInput, rows...)
}

// pastMost is how many messages of a session are shown that is gone on with.
const pastMost = 40

// past prints what was said in a session that is gone on with.
func (c *chat) past(messages []model.Message) {
	if left := len(messages) - pastMost; left > 0 {
		c.note(dim, fmt.Sprintf("%s %d earlier messages", c.signs.more, left))
		messages = messages[left:]
	}
	for _, m := range messages {
		said := strings.TrimSpace(m.Said())
		switch m.Role {
		case model.User:
			if said != "" {
				c.echo(said)
			}
		case model.Assistant:
			if said != "" {
				c.put(blockAnswer, c.answer.add(said, c.wide)...)
				c.endAnswer()
			}
			for _, call := range m.Calls {
				k := &card{name: call.Name, arguments: call.Arguments, state: cardPast}
				c.put(blockCard, k.head(c, 0).wrap(c.wide, line{{plain, "    "}})...)
			}
		}
	}
}
