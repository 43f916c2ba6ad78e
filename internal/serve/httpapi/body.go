package httpapi

import (
	"io"
	"net/http"
	"time"
)

// readFor is how long a client may take to send a message, and strangersFor how
// long we wait for the rest of one that we refuse.
const (
	readFor      = 60 * time.Second
	strangersFor = 2 * time.Second
)

// ReadBody reads a message of at most a length, within a time. One that is longer
// is an [http.MaxBytesError].
func ReadBody(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	control := http.NewResponseController(w)
	// Not every reader has deadlines; the one of a server does.
	_ = control.SetReadDeadline(time.Now().Add(readFor))
	body, err := readAll(http.MaxBytesReader(w, r.Body, int64(most)), r.ContentLength, most)
	if err == nil { // else what is left of it is not waited for either
		_ = control.SetReadDeadline(time.Time{})
	}
	return body, err
}

// DropBody has the rest of a refused message not waited for.
func DropBody(w http.ResponseWriter) {
	// Not every reader has deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(strangersFor))
}

func readAll(in io.Reader, length int64, most int) ([]byte, error) {
	const atOnce = 1 << 20 // what a client only says that it will send takes no more than this
	if length > 0 && length <= int64(min(most, atOnce)) {
		body := make([]byte, length)
		_, err := io.ReadFull(in, body)
		return body, err
	}
	return io.ReadAll(in)
}
