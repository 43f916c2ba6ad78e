package learn

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// How long and how many searches wait for the call they lead to.
const (
	maxWait     = 10 * time.Minute
	maxOpen     = 3 // of a session
	maxSessions = 1000
	maxLock     = 2 * time.Second // waited for another process, once a call is over
)

// Listener makes pairs of what calls do. Its Hear is a hook of toolcrib.Crib.OnEnd.
type Listener struct {
	Book *Book
	// Box and Tool name the tool that searches.
	Box, Tool string
	// Profile names the profile of a caller.
	Profile func(toolcrib.Caller) string
	// Silent reports that no text may be kept now: the vault is locked, so that
	// nobody can tell a secret. Nil: never.
	Silent func() bool
	Log    *slog.Logger

	mu   sync.Mutex
	open map[toolcrib.Caller][]search
}

type search struct {
	query string
	at    time.Time
}

// Hear learns from a call that has ended. A search waits in its session for the next
// call that succeeds; up to three do, because a model that does not find what it
// wants says it in other words. Calls that tools make, and repetitions that the
// journal answered, teach nothing.
func (l *Listener) Hear(ctx context.Context, r *toolcrib.Record) {
	if r.Caller.Session == "" || r.Parent != "" || r.Replay != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxLock)
	defer cancel()
	tool := r.Box + "/" + r.Native
	var err error
	switch {
	case r.Box == l.Box && r.Native == l.Tool:
		if r.Outcome == toolcrib.Done && (l.Silent == nil || !l.Silent()) {
			l.wait(r.Caller, queryOf(r.Input))
		}
	case r.Box == l.Box || r.Box == "" || r.Native == "":
	case r.Outcome == toolcrib.Done:
		err = l.credit(ctx, r.Caller, tool)
	case r.Outcome == toolcrib.Outcome(toolcrib.CodeDenied) && deniedByGuard(r.Verdicts):
		err = l.distrust(ctx, r.Caller, tool)
	}
	if err != nil && l.Log != nil {
		l.Log.Warn("what a search led to is not remembered", "err", err)
	}
}

func deniedByGuard(verdicts []toolcrib.Verdict) bool {
	return len(verdicts) > 0 && verdicts[0].Decision == toolcrib.Deny
}

// queryOf is the query of a search, in one line. One with a secret in it, or a very
// long one, is nothing to learn from.
func queryOf(input json.RawMessage) string {
	var in struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(input, &in) != nil || strings.Contains(in.Query, "[redacted]") {
		return ""
	}
	query := text.ShowLine(strings.Join(strings.Fields(in.Query), " "))
	if len([]rune(query)) > maxQuery {
		return ""
	}
	return query
}

// who is the session of a caller: all that tells callers apart, but not the words
// that a client says of itself.
func who(c toolcrib.Caller) toolcrib.Caller {
	c.Client, c.Frontend, c.Dialect = "", "", ""
	return c
}

func (l *Listener) wait(caller toolcrib.Caller, query string) {
	if query == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Book.now()
	if l.open == nil {
		l.open = map[toolcrib.Caller][]search{}
	}
	if len(l.open) >= maxSessions {
		for c, list := range l.open {
			if now.Sub(list[len(list)-1].at) > maxWait {
				delete(l.open, c)
			}
		}
	}
	list := l.open[who(caller)]
	if len(list) == 0 && len(l.open) >= maxSessions {
		return
	}
	list = append(list, search{query, now})
	l.open[who(caller)] = list[max(0, len(list)-maxOpen):]
}

// credit tells the searches of a session that they led to a tool.
func (l *Listener) credit(ctx context.Context, caller toolcrib.Caller, tool string) error {
	l.mu.Lock()
	list := l.open[who(caller)]
	delete(l.open, who(caller))
	l.mu.Unlock()
	now := l.Book.now()
	var news []Pair
	for _, s := range list {
		if now.Sub(s.at) <= maxWait {
			news = append(news, Pair{Profile: l.Profile(caller), Subject: caller.Subject, Query: s.query, Tool: tool, Times: 1, Last: now.UTC().Truncate(time.Second)})
		}
	}
	if len(news) == 0 {
		return nil
	}
	return l.Book.add(ctx, news)
}

// distrust forgets what the searches of this person led to, if that is a tool that
// guards denied. What others have taught stays: the denial may be about these
// arguments, or about this person's budget.
func (l *Listener) distrust(ctx context.Context, caller toolcrib.Caller, tool string) error {
	if _, err := l.Book.Version(); err != nil {
		return err
	}
	profile := l.Profile(caller)
	own := func(p Pair) bool { return p.Profile == profile && p.Subject == caller.Subject && p.Tool == tool }
	if !slices.ContainsFunc(l.Book.Of(profile), own) {
		return nil
	}
	_, err := l.Book.Forget(ctx, own)
	return err
}
