package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// lookTools has the servers started once, to see their tools and say what they may do. Only
// one that has answered is taken out of its client's file later.
func (s *Setup) lookTools(ctx context.Context, b *book) (plan, error) {
	there, err := s.Servers()
	if err != nil {
		return plan{}, err
	}
	if s.answered, err = s.Answered(ctx); err != nil {
		return plan{}, err
	}
	names := slices.Clone(b.Servers)
	for _, c := range s.behind {
		names = append(names, c.name)
	}
	slices.Sort(names)
	var list []string
	for _, name := range slices.Compact(names) {
		if server, ok := there[name]; ok && !server.Disabled && !s.answered[name] {
			list = append(list, name)
		}
	}
	for _, name := range s.soon { // with Dry they would have answered by the next step
		list, s.answered[name] = append(list, name), true
	}
	if len(list) == 0 {
		return plan{}, nil
	}
	return plan{
		found: []string{fmt.Sprintf("%s that Toolcrib has not seen at work: %s.", counted(len(list), "server"), strings.Join(list, ", "))},
		would: []string{fmt.Sprintf("Start each of them once, as your clients do, and read which tools it has: %d at a time. A server has 30 seconds, or two minutes if its command may have to fetch it (npx, uvx, docker run and the like).", atOnce),
			"Write down what a tool may do (read, write, delete, …) where there is no doubt. A tool in doubt counts as one that may do everything, so you are asked before it is used."},
		ask: "Start them now?", yes: true,
		do: func(ctx context.Context) (done, warn []string, err error) { return s.tryAll(ctx, list) },
	}, nil
}
