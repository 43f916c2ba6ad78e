// Package jsontext is the part of the ground floor that works on JSON as text:
// it writes strings, reads what a string token says, and walks over values
// without decoding them, for callers that pass large documents on and change
// little of them.
//
// Every package may import it. It does not judge whether a text is JSON: that is
// for internal/schema, which is strict, or for encoding/json. On a text that is
// none it never panics and never reads beyond the end.
//
// Its one invariant: what [AppendString] writes, [Unquote] reads back.
package jsontext
