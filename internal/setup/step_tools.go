package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
)

// toolsTime bounds how long a server may take to say what it offers.
const toolsTime = 45 * time.Second

// lookTools has the servers started once, to see their tools and say what they may do.
func (s *Setup) lookTools(_ context.Context, b *book) (plan, error) {
	there, err := s.Servers()
	if err != nil {
		return plan{}, err
	}
	var list []string
	for _, name := range b.Servers {
		if server, ok := there[name]; ok && !server.Disabled && !slices.Contains(b.Tried, name) {
			list = append(list, name)
		}
	}
	list = append(list, s.soon...)
	if len(list) == 0 {
		return plan{}, nil
	}
	return plan{
		found: []string{fmt.Sprintf("%s that Toolcrib has not seen at work: %s.", counted(len(list), "server"), strings.Join(list, ", "))},
		would: []string{"Start each of them once, as your clients do, and read which tools it has.", "Write down what a tool may do (read, write, delete, …) where there is no doubt. A tool in doubt counts as one that may do everything, so you are asked before it is used."},
		ask:   "Start them now?", yes: true,
		do: func(ctx context.Context) (done, warn []string, err error) { return s.tryAll(ctx, b, list) },
	}, nil
}

func (s *Setup) tryAll(ctx context.Context, b *book, list []string) (done, warn []string, err error) {
	tools, confirmed, works := 0, 0, 0
	for _, name := range list {
		if ctx.Err() != nil {
			return done, warn, ctx.Err()
		}
		s.Tell(Event{Working, "starting " + name})
		within, cancel := context.WithTimeout(ctx, toolsTime)
		got, err := s.Tools(within, name)
		cancel()
		if err != nil {
			line, _, _ := strings.Cut(err.Error(), "\n")
			warn = append(warn, fmt.Sprintf("%s does not answer: %s ('toolcrib hub test %s' tries it again)", name, text.ClipRunes(text.ShowLine(line), 160), name))
			continue
		}
		works++
		b.Tried = append(b.Tried, name)
		tools += got.Count
		n, err := s.Confirm(ctx, name)
		if err != nil {
			warn = append(warn, fmt.Sprintf("%s: %v", name, err))
		}
		confirmed += n
		if got.Doubted > 0 {
			warn = append(warn, fmt.Sprintf("%s has %s to look at: toolcrib hub classify %s", name, counted(got.Doubted, "tool"), name))
		}
		if got.Held > 0 {
			warn = append(warn, fmt.Sprintf("%s has %s kept back until you approve them: toolcrib hub approve %s", name, counted(got.Held, "definition"), name))
		}
	}
	if err := b.save(); err != nil {
		return nil, warn, err
	}
	if works > 0 {
		done = append(done, fmt.Sprintf("%d of %s work: %s, and what %d of them may do is confirmed.", works, counted(len(list), "server"), counted(tools, "tool"), confirmed))
	}
	return done, warn, nil
}
