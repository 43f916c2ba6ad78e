// Package sandbox decides where a program runs. It rates the risk of a tool by
// what the tool declared, picks the backend that this risk needs, and refuses
// when there is none: what was asked for by name, or by the table of risks, is
// never replaced by something weaker.
//
// The backends are the packages below it, each an implementation of
// [toolcrib.Sandbox] that was handed to a [Chooser] as a [Candidate]:
//
//	host       a process group with a scrubbed environment; no isolation
//	linux      namespaces, Landlock, seccomp and limits; no engine needed
//	container  Docker, Podman or nerdctl
//	microvm    a microsandbox server
//
// What backends share stands here as well: limits, the pipes between a program
// and its caller, the checks of a command and the words of a refusal.
//
// It may be imported by its backends and by the wiring; it imports the root
// package only. Its invariant: a [Chooser] never gives a sandbox that claims
// less than the risk table and the override of the tool ask for.
package sandbox
