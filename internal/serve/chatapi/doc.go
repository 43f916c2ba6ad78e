// Package chatapi lets programs that speak OpenAI's chat completions talk to an agent whose
// tools run here: POST /v1/chat/completions and GET /v1/models. A client sends a conversation,
// the loop of package agent asks the model and makes its calls through the crib, and the client
// gets the answer. The wiring imports it.
//
// Its one invariant: a conversation decides nothing. Who calls comes from the token, what the
// caller may do is the crib's word, and what a client says that a tool answered is a text for
// the model and nothing else.
package chatapi
