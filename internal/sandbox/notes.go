package sandbox

import "context"

type earlyKey struct{}

// WithEarly has notes that are known before a program runs told then. A program
// that runs for weeks would have them read when it is too late.
func WithEarly(ctx context.Context, tell func(note string)) context.Context {
	return context.WithValue(ctx, earlyKey{}, tell)
}

// Early tells notes to whoever wants them early, and gives back those that are
// still to be told at the end.
func Early(ctx context.Context, notes []string) []string {
	tell, ok := ctx.Value(earlyKey{}).(func(string))
	if !ok {
		return notes
	}
	for _, note := range notes {
		tell(note)
	}
	return nil
}

type hostsKey struct{}

// WithHostsKey names the setting that gives a program its hosts, for notes about those
// that it does not have. Without it that is grant.hosts.
func WithHostsKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, hostsKey{}, key)
}

// HostsKey gives the name of [WithHostsKey]; empty: grant.hosts.
func HostsKey(ctx context.Context) string {
	key, _ := ctx.Value(hostsKey{}).(string)
	return key
}

type heldKey struct{}

// WithHeldHosts says that a program has no network because nobody was asked, although
// hosts are granted: for a note that says how to ask.
func WithHeldHosts(ctx context.Context) context.Context {
	return context.WithValue(ctx, heldKey{}, true)
}

// HeldHosts tells whether [WithHeldHosts] was said.
func HeldHosts(ctx context.Context) bool { return ctx.Value(heldKey{}) != nil }

type toolsKey struct{}

// WithTools has a program see further directories, read-only and as they are: those of
// the interpreter that it is run by. They are not looked through for what is protected,
// as those of tool chains are not. A backend that cannot show them leaves them out.
func WithTools(ctx context.Context, dirs []string) context.Context {
	return context.WithValue(ctx, toolsKey{}, dirs)
}

// Tools gives the directories of [WithTools].
func Tools(ctx context.Context) []string {
	dirs, _ := ctx.Value(toolsKey{}).([]string)
	return dirs
}
