// Package setup brings the clients of a person behind Toolcrib, and takes that back.
//
// It is a joint: it finds the MCP servers in the files of other clients, takes them
// over with their secrets, puts Toolcrib into those files, takes the originals out,
// and writes hooks and rules. The commands 'hub import' and 'connect' do single
// pieces of this with the same code; 'setup' does them one after the other, each
// with a question. What only the running program can do, such as starting a server
// to see its tools, it is given as functions. Only internal/cli imports it.
//
// The invariant: before a byte of a file is changed, what was there is on the disk,
// in a sealed record. So whatever is cut off, wherever, can be taken back: every
// file gets its bytes again, and one that somebody changed since keeps their change.
// And a server is taken out of a client's file only if it can be reached through
// Toolcrib in that client.
package setup
