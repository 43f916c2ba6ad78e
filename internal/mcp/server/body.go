package server

import (
	"io"
	"net/http"
	"time"
)

// readFor is how long a client may take to send a message.
const readFor = 60 * time.Second

// readBody reads a message of at most a length, within a time.
func readBody(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	control := http.NewResponseController(w)
	// Not every reader has deadlines; the one of a server does.
	_ = control.SetReadDeadline(time.Now().Add(readFor))
	body, err := readAll(http.MaxBytesReader(w, r.Body, int64(most)), r.ContentLength, most)
	if err == nil { // else what is left of it is not waited for either
		_ = control.SetReadDeadline(time.Time{})
	}
	return body, err
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
