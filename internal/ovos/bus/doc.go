// Package bus speaks the OpenVoiceOS message bus: JSON messages over a
// websocket that a server sends on, verbatim, to everyone.
//
//	client ──frame──► server ──the same bytes──► every client, the sender too
//
// A [Message] has a type, data and a context; nothing else goes over the wire.
// There are no topics, no acknowledgement and no addressees: who wants an
// answer subscribes before sending and knows its own by a private key that
// hosts echo in the context ([CorrelationKey]). [Client] does that, and comes
// back when the bus does. [Server] is the bus itself: [Server.Serve] on a
// listener or as an http.Handler.
//
// The bus is shared with Python programs, and one malformed frame disconnects
// every one of them for seconds. Hence the invariant: no frame made here is
// poison. [Message.Encode] refuses to write what a Python reader chokes on
// (NaN, half a surrogate pair, integers beyond 64 bits, a session that is no
// object), and the server, unless told otherwise, does not pass such frames on.
//
// It stands in layer 1, imports nothing of ours, and is the only package that
// may import the websocket library. Frontends and the wiring may import it.
package bus
