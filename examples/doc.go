// Package examples is the place of the recipes in docs/adding.md, one
// directory each:
//
//   - examples/tool: a tool, with what the model reads and a golden contract;
//   - examples/toolbox: a toolbox with a Config, an Open and what it needs;
//   - examples/guard: a guard that wants a person asked at night;
//   - examples/sandbox: a place to run programs that claims only what it enforces;
//   - examples/frontend: a way in, with its table from Code to wire;
//   - examples/governed: a program that governs its own tools, and serves them;
//   - examples/agent: a model that works with a program's own tools (docs/agents.md);
//   - examples/bus: tools on the bus of a voice assistant (docs/bus.md).
//
// Nothing imports them; they import the root package, ovos and, in tests,
// cribtest, as a module of someone else would. The tests here hold the Go code and the
// commands shown in README.md and docs/adding.md against what really compiles
// and runs. The invariant: a page shows nothing that is not built and run.
package examples
