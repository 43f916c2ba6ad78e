// Package agent is the loop that thinks with tools: a model answers, its calls are made
// through a crib, the results go back to the model, until it has an answer.
//
// Every call goes through [toolcrib.Crib.Call], as the caller that the agent runs as:
// the loop itself decides nothing about what is allowed. If a call is refused or fails,
// the model gets a sentence that says what happened and what to do about it.
//
// There are two loops. Native uses the tool calls of the model's API. ReAct is for
// models that have none: they write Thought, Action and Action Input as text, and the
// loop reads that. Both keep the conversation within the model's context: they shorten
// old results, and have old turns summarised.
//
// Go programs use it over a crib of their own; the program's commands and endpoints do
// the same.
//
// The invariant: every call of a model has exactly one result in the conversation,
// whatever happens, so that a conversation can always be continued.
package agent
