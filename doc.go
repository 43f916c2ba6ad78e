// Package toolcrib is a runtime for the tools of AI agents: declare a tool
// once, govern it once, serve it everywhere.
//
// In a machine shop the tool crib is the guarded room where every tool hangs
// in its place, is handed out under rules, and each loan is written down.
// Here the room is a [Crib], and this is the way of a call through it:
//
//	agent · MCP client · voice assistant · browser · shell · Go program
//	   │ frontend: authenticate → Caller, decode → Call
//	   ▼
//	Crib.Call ─► begin ─► resolve ─► admit ─► judge ─► approve ─► equip ─► run ─► vet ─► end
//	              │          │         │        │         │          │       │      │      │
//	           Journal    Catalog   schema   Guards   Approver   Sandbox   Tool  schema Journal
//
// There is no other way to a tool. Every frontend makes a [Call] of what it
// received, and whatever kind of tool stands behind the name, the call is
// recorded, found, checked against its contract, judged, approved by a person
// if need be, equipped with just the handles it was granted, run within
// bounds, checked again, and closed in the journal.
//
// # The words
//
//   - [Tool]: a contract ([Spec]) and a function; a value. [Define] makes one
//     from a typed Go function.
//   - [Toolbox]: a supplier of tools. [Catalog]: what is on the shelves now.
//   - [Caller]: who calls; [Call]: one use; [Result]: what a tool answered,
//     failed or not; [Error]: why a call was refused, with a [Code].
//   - [Effects]: what a tool may do. [Guard]: judges a call; the strictest
//     [Verdict] wins. [Grant]: what this one call may touch.
//   - [Approver]: asks a person. [Env]: the handles a running tool is given.
//     [Sandbox]: where programs run. [Journal]: what was done. [Event]: what is
//     happening.
//   - [Adapter]: another system's name and shape for one of our tools.
//
// # The smallest crib
//
//	type In struct {
//		Name string `json:"name" doc:"Whom to greet."`
//	}
//	type Out struct {
//		Text string `json:"text"`
//	}
//	greet := toolcrib.Define(toolcrib.Spec{Name: "greet", Description: "Greets.", Effects: toolcrib.Pure},
//		func(_ context.Context, _ *toolcrib.Env, in In) (Out, error) {
//			return Out{Text: "Good day, " + in.Name}, nil
//		})
//
//	crib := &toolcrib.Crib{
//		Catalog: &toolcrib.Catalog{},
//		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)},
//		Journal: toolcrib.NoJournal{},
//	}
//	crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", greet)}})
//	out, err := toolcrib.Invoke[Out](ctx, crib, "greet", In{Name: "Ada"})
//
// # What is safe by default
//
// The zero value of everything is its safest value: a zero [Decision] denies,
// zero [Effects] count as all of them, a zero [Grant] gives nothing, and a
// crib without a journal, a guard, an approver or a sandbox refuses what would
// need it.
//
// This package imports nothing of this module but the handles that it gives out
// (files, httpclient) and the ground floor; everything else here imports it.
package toolcrib
