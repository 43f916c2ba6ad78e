// Package telemetry tells programs that watch others how the crib is doing:
// numbers in the text format of Prometheus, and traces by the conventions of
// OpenTelemetry for GenAI and MCP, sent by OTLP over HTTP. It hangs on the places
// that a crib has for it (OnEnd, Around, Approver, Journal, Vetters) and on what
// the MCP frontend and the hub tell of their requests. internal/app imports it.
//
// Its one invariant: it changes no call. Nothing waits for whoever watches, and
// what cannot be sent is dropped and counted. No name of a person, no argument
// and no result is in a number, and none of the last two is in a trace unless
// that is switched on, redacted as in the journal.
package telemetry
