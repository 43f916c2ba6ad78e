package chatui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// matches are the words that what is typed could become: commands, or what they take.
func (c *chat) matches(ctx context.Context) (found []Choice, from int) {
	typed := c.ed.String()
	if !strings.HasPrefix(typed, "/") || strings.ContainsAny(typed, "\n") || c.ed.at != len(c.ed.text) {
		return nil, 0
	}
	word, rest, more := strings.Cut(typed[1:], " ")
	if !more {
		for _, s := range slashCommands() {
			if strings.HasPrefix(s.name, word) {
				found = append(found, Choice{Name: "/" + s.name, Text: strings.TrimSpace(s.args + "  " + s.help)})
			}
		}
		return found, 0
	}
	at := slices.IndexFunc(slashCommands(), func(s slashCommand) bool { return s.name == word })
	if at < 0 || slashCommands()[at].kind == "" {
		return nil, 0
	}
	for _, one := range c.known(ctx, slashCommands()[at].kind) {
		if strings.HasPrefix(one.Name, rest) {
			found = append(found, one)
		}
	}
	return found, len(word) + 2
}

// known is what can be chosen; it is asked for once while a command is typed.
func (c *chat) known(ctx context.Context, what Kind) []Choice {
	if c.ed.known != what || c.opt.Now().Sub(c.ed.asked) > 5*time.Second {
		all, err := c.b.Choices(ctx, what)
		if err != nil {
			all = nil // completing is a help; the command itself says what is wrong
		}
		c.ed.known, c.ed.choices, c.ed.asked = what, all, c.opt.Now()
	}
	return c.ed.choices
}

// complete puts in what all matches have in common.
func (c *chat) complete(ctx context.Context) {
	found, from := c.matches(ctx)
	if len(found) == 0 {
		return
	}
	common := found[0].Name
	for _, one := range found[1:] {
		for !strings.HasPrefix(one.Name, common) {
			common = common[:len(common)-1]
		}
	}
	common = strings.ToValidUTF8(common, "")
	whole := c.ed.String()[:from] + common
	if len(found) == 1 && from == 0 {
		whole += " "
	}
	if len(whole) >= len(c.ed.String()) {
		c.ed.set(whole)
	}
}

// offersRows shows what could be completed, below the prompt.
func (c *chat) offersRows() (rows []line) {
	found, _ := c.matches(context.Background())
	most := max(min(6, c.high/3), 1)
	for i, one := range found {
		if i == most {
			return append(rows, say(dim, fmt.Sprintf("  %s and %d more", c.signs.more, len(found)-most)))
		}
		name := line{{plain, "  "}}.and(say(accent, one.Name))
		rows = append(rows, name.and(line{{plain, strings.Repeat(" ", max(14-name.width(), 2))}}, say(dim, one.Text)).clip(c.wide))
	}
	return rows
}
