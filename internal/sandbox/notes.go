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
