// Package ovos puts the tools of a Go program on an OpenVoiceOS message bus,
// and calls the tools that are there.
//
//	crib ── Serve ──► bus ◄── Dial ── Client.Call
//
// [Serve] makes a crib a host of toolboxes that voice assistants find and call
// as they do their own Python ones. A call from the bus goes the way of every
// other call of the crib: nothing is allowed here that its guards do not allow.
// [Dial] gives a [Client], which sees any host of the bus.
//
// It is for programs that use Toolcrib as a library; the toolcrib command is
// built of the parts behind it. Its one invariant: it adds no way around
// [toolcrib.Crib.Call].
package ovos
