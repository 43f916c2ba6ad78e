// Package definition shows tools to model APIs: it turns contracts into the function definitions that OpenAI, Anthropic,
// Gemini and MCP clients take.
//
// Every API takes a JSON Schema of its own cut, and refuses a whole request for one keyword it does not know. So a
// contract's schema is first read into a shape, a small model of what a value may look like (read.go), and the shape is
// then written in the API's words (loose.go, split.go). What an API cannot say in keywords goes into descriptions; what
// it cannot take as a value (a map with free names, a recursion, structure below its depth limit) is asked for as JSON
// text. Alternatives that a value could not be told apart by are merged, so that it always means one thing. A tool that
// cannot be shown is left out with the reason, and the others go on.
//
// The way back is [Set.Call]: it takes a model's call as the API gives it and makes a [toolcrib.Call] of it, with the
// real name, with nothing where null meant nothing, and with JSON where text stood for it.
//
// It is public, for programs that talk to a model's API themselves. The command line, the agent loop and the frontends
// may import it; it imports the root package only.
//
// The invariant: a projection may say less than the contract, never more. Every call that the contract allows can be
// expressed under the definition, and the crib checks arguments against the real contract anyway. Two things that only
// an accident of JSON Schema allows are not shown: properties that an object with declared properties neither declares
// nor mentions, and arguments of a tool whose contract is an object and nothing more.
package definition
