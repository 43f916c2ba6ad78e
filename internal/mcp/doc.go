// Package mcp is the Model Context Protocol as far as both of its sides share
// it: messages, a conversation over a stream, the names and codes of both eras,
// and how contents are written. The frontend (internal/mcp/server) and the
// hub (toolbox/mcphub) are built on it; what only a client needs is in
// internal/mcp/client.
//
// It is written here because the official library spends up to a millisecond
// and half a megabyte on a call, on each side (docs/dependencies.md); that
// library and the protocol's conformance suite judge it in tests.
//
// Its one invariant: JSON that it does not have to understand passes through
// byte for byte.
package mcp
