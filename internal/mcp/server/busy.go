package server

import (
	"net/http"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// These bound what one caller has open over HTTP. Messages that are being read
// are counted by themselves: an answer that a call waits for must get through
// when there are as many calls as there may be.
const (
	maxReading  = 256
	maxRequests = 256
	maxListens  = 64 // of them, such as stay open
)

// busyError refuses a request because there are too many. It has a status of its
// own, so that clients and what stands between try again later.
type busyError struct{ error }

func (c busyError) Unwrap() error { return c.error }

func busy(why string) busyError { return busyError{mcp.Errorf(mcp.CodeInternal, "%s", why)} }

// refuseBusy answers a message that there is no place for.
func refuseBusy(w http.ResponseWriter, id []byte) {
	w.Header().Set("Retry-After", "1")
	writeMessage(w, http.StatusServiceUnavailable, &mcp.Message{ID: id, Error: mcp.ErrorOf(busy("too many requests are open; try again later"))})
}
