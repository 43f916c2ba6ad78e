package codegen

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// mostWords bounds what a model is told of what was wrong, and what a caller is.
const mostWords = 4000

// fill makes the files and checks them. A model that was wrong gets the words of the check back, a bounded number of times.
func (b *Box) fill(ctx context.Context, env *toolcrib.Env, w *work) (checks []string, repairs int, err error) {
	if w.files, err = scaffold.Stub(w.kind, w.name, w.description); err != nil {
		return nil, 0, err
	}
	if !b.thinks() {
		checks, wrong, err := b.check(ctx, env.Call, w)
		if err == nil && wrong != "" {
			err = fmt.Errorf("nothing was written, because the template does not pass: %s", wrong)
		}
		return checks, 0, err
	}
	m, err := b.needs.Model(ctx, b.cfg.Model, env.Call.Caller, env.Call.ID)
	if err != nil {
		return nil, 0, err
	}
	request := model.Request{System: system(w), Messages: []model.Message{model.Text(model.User, task(w))}}
	for ; ; repairs++ {
		env.Emit(toolcrib.Event{Kind: "progress", Text: "asking the model"})
		answer, err := m.Ask(ctx, request, nil)
		if err != nil {
			return nil, repairs, err
		}
		wrong := take(w, answer)
		if wrong == "" {
			env.Emit(toolcrib.Event{Kind: "progress", Text: "checking what it wrote"})
			if checks, wrong, err = b.check(ctx, env.Call, w); err != nil || wrong == "" {
				return checks, repairs, err
			}
		}
		wrong = text.ClipMiddle(text.Show(wrong), mostWords)
		if repairs >= b.cfg.Repairs {
			return nil, repairs, fmt.Errorf("nothing was written: what the model made does not pass, after %d tries. %s", repairs+1, wrong)
		}
		request.Messages = append(request.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Text: answer.Message.Said()}}},
			model.Text(model.User, "It was checked, and does not pass. Mend it, and answer with all blocks again, whole.\n\n"+wrong))
	}
}

// mostBlock bounds one file.
const mostBlock = 64 << 10

// take puts the blocks of an answer into the files. What they are called is settled: an answer names no file.
func take(w *work, answer *model.Answer) (wrong string) {
	switch answer.Stop {
	case model.StopLength:
		return "The answer was cut off at the limit of the model: write a shorter one."
	case model.StopRefused:
		return "The model would not answer."
	}
	blocks := Blocks(answer.Message.Said())
	want := map[string]int{"workflow": 1}[w.kind]
	if want == 0 {
		want = 2
	}
	if len(blocks) != want {
		return fmt.Sprintf("The answer has %d blocks between fences; it must have %d.", len(blocks), want)
	}
	for _, block := range blocks {
		if err := plain(block); err != nil {
			return "The answer cannot be used: " + err.Error()
		}
	}
	switch w.kind {
	case "skill":
		w.files[0].Text = skillText(w.name, blocks[0], blocks[1])
	case "agent":
		w.files[0].Text = agentText(w.name, blocks[0], blocks[1])
	default:
		for i := range w.files {
			w.files[i].Text = blocks[i]
		}
	}
	return ""
}

// plain refuses what a person who looks at it would not see.
func plain(block string) error {
	if len(block) > mostBlock {
		return fmt.Errorf("a block has %d bytes, and at most %d are taken", len(block), mostBlock)
	}
	if strings.TrimSpace(block) == "" {
		return errors.New("a block is empty")
	}
	for _, r := range block {
		if r != '\n' && r != '\t' && text.Invisible(r) {
			return fmt.Errorf("it has the character %s, which nobody sees: write it as an escape of the language", text.Code(r))
		}
	}
	return nil
}

// Blocks are the texts between fences, in their order. A fence is closed by one of the same sign that is as long or longer.
func Blocks(answer string) (list []string) {
	var body []string
	open := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(answer, "\r\n", "\n"), "\n") {
		mark := fence(line)
		switch {
		case open == "" && mark != "":
			open, body = mark, nil
		case open == "":
		case mark != "" && mark[0] == open[0] && len(mark) >= len(open) && strings.TrimSpace(line) == mark:
			list = append(list, strings.Join(body, "\n")+"\n")
			open = ""
		default:
			body = append(body, line)
		}
	}
	return list
}

// fence is the run of signs that a line begins with, if it is a fence.
func fence(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 || trimmed == "" || trimmed[0] != '`' && trimmed[0] != '~' {
		return ""
	}
	n := len(trimmed) - len(strings.TrimLeft(trimmed, trimmed[:1]))
	if n < 3 {
		return ""
	}
	return trimmed[:n]
}
