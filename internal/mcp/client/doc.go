// Package client is the side of MCP that connects to servers: over the standard
// streams of a program, over HTTP, and over the older HTTP with SSE. The hub
// (toolbox/mcphub) is built on it. It starts no program, keeps no credential
// and decides nothing: what it may use is given in a Config.
//
// The two eras of the protocol are found out by Connect and hidden by Session:
// a call is made, asked about and cancelled in the same way with every server.
//
// Its one invariant: a call is sent at most once. Only what a server has
// refused for want of a credential, and so has not begun, is sent again; the
// rounds of a call that wants input are calls of their own by the protocol.
package client
