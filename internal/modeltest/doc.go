// Package modeltest is a scripted model: a server on a real loopback socket that speaks
// the APIs of OpenAI (chat completions), Anthropic (messages) and Gemini
// (generateContent) in the form that the real services have, streaming and not.
//
// A script is a list of turns, or a function that makes the turn from the request. A
// turn says what the model answers and what goes wrong meanwhile. All requests are
// recorded, as they came and in words that the three APIs share, so that one test can be
// played over all of them. It is for tests only, of every package.
//
// The invariant: nothing in it waits for a time. What is to come later waits for a
// channel of the test, or for the client to go.
package modeltest

import "net/http"

// Turn is one answer of the model. The zero value is an empty answer.
type Turn struct {
	Text  string
	Calls []Call
	// Thought comes before the text, with its Signature where the API has one.
	Thought   string
	Signature string
	// Redacted is a thought that the service keeps to itself (Anthropic only).
	Redacted string
	// Stop is length or refused; empty: what follows from text and calls.
	Stop  string
	Usage Usage
	Model string // which one says it answered; empty: the one that was asked

	// Fail is one of the failures below: the answer is that of the service.
	Fail string
	// FailLate breaks the stream with that failure after its text, where the API has a
	// form for that.
	FailLate string
	// Status, Header and Body replace what the service would say. Body without Status
	// is 200.
	Status int
	Header http.Header
	Body   string
	// Drop closes the connection without an answer.
	Drop bool

	// Cut breaks the connection after that many events of the stream.
	Cut int
	// End ends the stream in good order after that many events, before its real end.
	End int
	// Hang sends no more after that many events, until the client goes. A turn that
	// does not stream hangs before its answer.
	Hang int
	// Flood is sent again and again, as the stream, until the client goes.
	Flood string
	// Wait, if set, is waited for before anything is answered.
	Wait <-chan struct{}
	// Pace, if set, gives leave for each event of the stream.
	Pace <-chan struct{}

	// Piece is how many characters of text or arguments come in one event; 0: 12.
	Piece int
	// Chunk is how many bytes are written to the socket at once, without regard to
	// characters or events; 0: an event.
	Chunk int

	Quirks Quirks
}

// Call is a call of a tool. Arguments are text as the model wrote it, JSON or not.
type Call struct {
	ID        string // empty: one is made
	Name      string
	Arguments string
	// Signature belongs to the call (Gemini only).
	Signature string
}

// Usage is what is told about tokens. All zero: 10 read, 5 written. Input counts what
// came from the cache and what went into it too.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int
	Thoughts                             int // of Output
}

// The failures.
const (
	RateLimit  = "rate_limit" // says retry-after: 7, unless Header says otherwise
	Overloaded = "overloaded"
	Internal   = "internal"
	BadKey     = "bad_key"
	BadRequest = "bad_request"
	TooLong    = "too_long"
	NoModel    = "no_model"
)

// Quirks are what servers that call themselves compatible do otherwise. They count for
// OpenAI's API only, except NoUsage.
type Quirks struct {
	NoUsage         bool // tells no usage, though asked
	NoID            bool // calls have no id
	NoIndex         bool // calls in a stream have no index
	ArgumentsObject bool // arguments are an object instead of text
	NoDone          bool // the stream ends without [DONE]
	NoSpace         bool // data:{…} without a space
	Reasoning       bool // thoughts are called reasoning (OpenRouter), not reasoning_content
	StopWithCalls   bool // finish_reason is stop though there are calls
	FailWith200     bool // a Fail has status 200
	Comments        bool // comment lines between the events
	WholeCalls      bool // calls come whole in one chunk, not in pieces
}
