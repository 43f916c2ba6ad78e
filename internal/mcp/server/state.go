package server

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// A request state names a call that waits for its client. The client carries it
// and could change it, so it is signed, together with everything that the
// request it comes back with has to have in common with the first: who calls,
// for what, with which input. What is signed is no secret.

// state writes the state of a call in its present turn.
func (s *Server) state(f *roundsCall) string {
	plain := strings.Join([]string{
		f.key, strconv.Itoa(f.turn), strconv.FormatInt(s.now().Add(parkFor).Unix(), 10), f.job.call.ID,
	}, " ")
	return base64.RawURLEncoding.EncodeToString([]byte(plain)) + "." + base64.RawURLEncoding.EncodeToString(s.sign(plain, f.job))
}

func (s *Server) sign(plain string, j *job) []byte {
	mac := hmac.New(sha256.New, s.cfg.Key)
	caller, err := json.Marshal(j.call.Caller)
	if err != nil {
		caller = nil // a struct of strings can always be written
	}
	input := sha256.Sum256(compact(j.call.Input))
	for _, part := range [][]byte{[]byte(plain), caller, []byte(j.method), []byte(j.call.Tool), input[:]} {
		mac.Write(strconv.AppendInt(nil, int64(len(part)), 10)) // lengths keep two parts from trading bytes
		mac.Write([]byte{' '})
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// waitingCall is where a call waits for its client.
type waitingCall struct {
	key  string // of the roundsCall
	turn int
	call string // its ID
}

// readState gives what a state names. A state that is not ours, or not for this
// request, is an error.
func (s *Server) readState(text string, j *job) (at waitingCall, err error) {
	bad := mcp.Errorf(mcp.CodeInvalidParams, "the requestState is not one that was given for this request")
	coded, seal, _ := strings.Cut(text, ".")
	plain, err := base64.RawURLEncoding.Strict().DecodeString(coded)
	if err != nil {
		return at, bad
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(seal)
	if err != nil || !hmac.Equal(mac, s.sign(string(plain), j)) {
		return at, bad
	}
	parts := strings.SplitN(string(plain), " ", 4)
	if len(parts) != 4 || j.named && parts[3] != j.call.ID {
		return at, bad
	}
	turn, err := strconv.Atoi(parts[1])
	if err != nil {
		return at, bad
	}
	until, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || s.now().After(time.Unix(until, 0)) {
		return at, mcp.Errorf(mcp.CodeInvalidParams, "the requestState has expired: make the request anew")
	}
	return waitingCall{parts[0], turn, parts[3]}, nil
}

// compact is a JSON text without the space between its parts.
func compact(text json.RawMessage) []byte {
	if len(text) == 0 {
		return []byte("{}")
	}
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}
