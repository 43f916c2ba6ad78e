// Package chatui is a conversation in a terminal: what a person types, what the agent
// says and does, and the questions that it has to wait for.
//
// It knows neither settings nor stores: a [Backend] runs the turns and says what can be
// chosen, and internal/cli fills it. What was said is printed and stays in the
// terminal's own memory, so that it can be scrolled and copied; only the last few rows,
// where one types, are painted again. Where there is no terminal, or one that can do
// nothing, the same goes line by line ([Lines]).
//
// The invariant: only this package's own painting steers the terminal. Whatever comes
// from a model, a tool, a file or a person becomes a span, and a span has no character
// in it that cannot be seen.
package chatui
