// Package cribtest holds what tests of toolcrib parts share: a conformance
// suite for each port, fakes, and the runner of journeys.
//
// Who writes a toolbox, a guard, an approver, a sandbox or a journal runs its
// suite in a test of a few lines:
//
//	func TestToolbox(t *testing.T) {
//		cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return mybox.New(…) })
//	}
//
// A suite tries to break its subject: it calls every tool with inputs that no
// well-meaning caller sends, many times at once, and with contexts that have
// ended. [Toolbox] also compares the contracts with a golden file, so that a
// change of what models read shows up in review.
//
// A journey is a txtar file that tells how calls go through a crib: a head in
// prose, what is set up, the calls, and what they must answer and leave in the
// journal. [Journeys] plays them.
//
// Golden files and journeys are rewritten by "go test -update". The flag is
// defined here, so a test that imports this package must not define its own:
// it asks [Updating].
//
// Tests everywhere may import this package; it imports only the root package.
// Its invariant: nothing here passes silently, a suite that finds no tool, no
// journey or no golden file fails.
package cribtest
