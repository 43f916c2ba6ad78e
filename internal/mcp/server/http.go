package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// Handler serves any number of clients over streamable HTTP: those of the
// modern era request by request, those of the legacy era in sessions. Who sends
// a request, and under which name, is looked at before it (internal/serve/httpapi).
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if name := repeated(r.Header); name != "" && r.Method != http.MethodPost {
		httpapi.Fail(w, http.StatusBadRequest, "the header "+name+" is there more than once")
		return
	}
	r = s.withAmbient(r)
	session := r.Header.Get(headerSession)
	legacy := session != "" && !mcp.IsModern(r.Header.Get(headerVersion))
	switch {
	case r.Method == http.MethodPost:
		s.servePost(w, r)
	case r.Method == http.MethodGet && legacy:
		s.serveStream(w, r, session)
	case r.Method == http.MethodDelete && legacy:
		s.serveDelete(w, session)
	default:
		allow := "POST"
		if legacy {
			allow = "GET, POST, DELETE"
		}
		w.Header().Set("Allow", allow)
		httpapi.Fail(w, http.StatusMethodNotAllowed, "only POST is taken here; GET and DELETE in a session")
	}
}

// servePost takes one message.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	if !isJSON(r.Header.Get("Content-Type")) {
		httpapi.Fail(w, http.StatusUnsupportedMediaType, "the Content-Type is not application/json")
		return
	}
	if !accepts(r.Header.Values("Accept")) {
		httpapi.Fail(w, http.StatusNotAcceptable, "Accept has to have both application/json and text/event-stream")
		return
	}
	if !s.reading.Enter(maxReading) {
		refuseBusy(w, nil)
		return
	}
	body, err := httpapi.ReadBody(w, r, s.maxMessage())
	s.reading.Leave()
	if err != nil {
		status, e := http.StatusBadRequest, mcp.Errorf(mcp.CodeParse, "the message could not be read")
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			status, e = http.StatusRequestEntityTooLarge, mcp.Errorf(mcp.CodeInvalidRequest, "%v", mcp.ErrTooLong)
		}
		writeMessage(w, status, &mcp.Message{Error: e})
		return
	}
	m, err := mcp.Parse(body)
	if err != nil {
		writeMessage(w, http.StatusBadRequest, &mcp.Message{ID: m.ID, Error: mcp.ErrorOf(err)})
		return
	}
	if name := repeated(r.Header); name != "" {
		writeMessage(w, http.StatusBadRequest, &mcp.Message{ID: m.ID, Error: mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is there more than once", name)})
		return
	}
	if m.IsRequest() {
		if !s.requests.Enter(maxRequests) {
			refuseBusy(w, m.ID)
			return
		}
		defer s.requests.Leave()
	}
	p, err := readParams(m.Params)
	if err != nil && m.IsRequest() {
		writeMessage(w, http.StatusBadRequest, &mcp.Message{ID: m.ID, Error: mcp.ErrorOf(err)})
		return
	}
	modern := p.version() != "" || mcp.IsModern(r.Header.Get(headerVersion))
	switch {
	case modern && m.IsRequest():
		s.serveModern(w, r, m, p)
	case modern && m.IsAnswer():
		writeMessage(w, http.StatusBadRequest, &mcp.Message{Error: mcp.Errorf(mcp.CodeInvalidRequest, "servers ask nothing in this version of the protocol")})
	case modern:
		w.WriteHeader(http.StatusAccepted) // there is none that we would act on
	default:
		s.serveLegacy(w, r, m, p)
	}
}

func isJSON(contentType string) bool {
	if contentType == "application/json" { // nearly all
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// accepts reports whether a client takes both forms of an answer. One that says
// nothing takes anything.
func accepts(values []string) bool {
	if len(values) == 0 {
		return true
	}
	plain, stream := false, false
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.TrimSpace(strings.ToLower(kind)) {
			case "*/*":
				plain, stream = true, true
			case "application/json", "application/*":
				plain = true
			case "text/event-stream", "text/*":
				stream = true
			}
		}
	}
	return plain && stream
}

// serveModern answers a request that stands for itself.
func (s *Server) serveModern(w http.ResponseWriter, r *http.Request, m *mcp.Message, p *params) {
	if e := s.checkHeaders(r.Header, m, p); e != nil {
		writeMessage(w, http.StatusBadRequest, &mcp.Message{ID: m.ID, Error: e})
		return
	}
	out := newResponse(w, nil)
	result, err := s.answerModern(r.Context(), m, p, out)
	out.finish(m.ID, result, err, true)
}

// serveLegacy takes a message in a session, or the one that begins it.
func (s *Server) serveLegacy(w http.ResponseWriter, r *http.Request, m *mcp.Message, p *params) {
	id := r.Header.Get(headerSession)
	if m.Method == mcp.MethodInitialize && m.IsRequest() && id == "" {
		s.serveInitialize(w, r, m, p)
		return
	}
	if version := r.Header.Get(headerVersion); version != "" && !mcp.Known(version) {
		writeMessage(w, http.StatusBadRequest, &mcp.Message{ID: m.ID, Error: unsupported(version)})
		return
	}
	if id == "" {
		writeMessage(w, http.StatusBadRequest, &mcp.Message{ID: m.ID, Error: mcp.Errorf(mcp.CodeInvalidRequest, "there is no session: begin with initialize, or send what version %s wants", mcp.Modern)})
		return
	}
	sess := s.useSession(id)
	if sess == nil {
		writeMessage(w, http.StatusNotFound, &mcp.Message{ID: m.ID, Error: mcp.Errorf(mcp.CodeInvalidRequest, "there is no such session; begin with initialize")})
		return
	}
	defer sess.release()
	switch {
	case m.IsAnswer():
		sess.answered(m)
		w.WriteHeader(http.StatusAccepted)
		return
	case !m.IsRequest():
		if m.Method == mcp.NotifyCancelled {
			sess.cancelled(m.Params)
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx, done, err := sess.begin(r.Context(), m.ID)
	if err != nil {
		writeMessage(w, http.StatusBadRequest, &mcp.Message{ID: m.ID, Error: mcp.ErrorOf(err)})
		return
	}
	defer done()
	out := newResponse(w, sess)
	result, err := s.answerLegacy(ctx, m, p, sess, out)
	done() // before the client knows: it may use the ID again
	out.finish(m.ID, result, err, false)
}

// serveInitialize begins a session.
func (s *Server) serveInitialize(w http.ResponseWriter, r *http.Request, m *mcp.Message, p *params) {
	sess := s.openSession(rand.Text() + rand.Text())
	if sess == nil {
		httpapi.Fail(w, http.StatusServiceUnavailable, "there are too many sessions; try later")
		return
	}
	result, err := s.answerLegacy(r.Context(), m, p, sess, noReply{})
	if err != nil {
		s.dropSession(sess, false)
	} else {
		w.Header().Set(headerSession, sess.id)
	}
	newResponse(w, nil).finish(m.ID, result, err, false)
}

// serveDelete ends a session.
func (s *Server) serveDelete(w http.ResponseWriter, id string) {
	sess := s.useSession(id)
	if sess == nil {
		httpapi.Fail(w, http.StatusNotFound, "there is no such session")
		return
	}
	s.dropSession(sess, false)
	sess.release()
	w.WriteHeader(http.StatusNoContent)
}

// serveStream tells a client of a session of what changes. The newest stream is
// the one that is told: the client may have lost the one before.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, id string) {
	if !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") && r.Header.Get("Accept") != "*/*" && r.Header.Get("Accept") != "" {
		httpapi.Fail(w, http.StatusNotAcceptable, "Accept has to have text/event-stream")
		return
	}
	sess := s.useSession(id)
	if sess == nil {
		httpapi.Fail(w, http.StatusNotFound, "there is no such session")
		return
	}
	defer sess.release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	sess.mu.Lock()
	if sess.reader != nil {
		sess.reader()
	}
	sess.reader = cancel
	sess.mu.Unlock()
	newResponse(w, sess).stream(ctx, sess)
}

// status is that of an answer in the modern era.
func status(e *mcp.Error) int {
	if e == nil {
		return http.StatusOK
	}
	switch e.Code {
	case mcp.CodeMethodNotFound:
		return http.StatusNotFound
	case mcp.CodeInvalidParams, mcp.CodeInvalidRequest, mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// message makes the answer to a request.
func message(id, result json.RawMessage, err error) *mcp.Message {
	if err != nil {
		return &mcp.Message{ID: id, Error: mcp.ErrorOf(err)}
	}
	return &mcp.Message{ID: id, Result: result}
}
