// Package clienthook reads what the hooks of other agents say about their own
// tools, and answers in their words. Claude Code, Codex and Gemini CLI start a
// program before and after each tool; what they want to do is put here into
// calls of the tools of Toolcrib, so that the same rules and guards judge them.
//
// Wiring (internal/app) makes the calls. The package reads no settings and
// decides nothing; it imports the core and the ground floor.
//
// Its one invariant: what is not understood for certain is a call of a tool with
// undeclared effects, or an error, never a harmless one.
//
//	event      one message of a client, and what it has in common with all
//	claude, codex, gemini  what their tools do, as calls of ours
//	patch      which files a patch of Codex changes
//	path       where a path of theirs leads
//	lend       the tools, which do nothing but let the client go on
//	answer     what the client is told
package clienthook
