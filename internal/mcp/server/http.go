package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// Handler serves any number of clients over streamable HTTP: those of the
// modern era request by request, those of the legacy era in sessions. It
// refuses requests that a foreign web page makes in a person's browser.
func (s *Server) Handler() http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(s.serveHTTP))
}

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if why := foreign(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if name := repeated(r.Header); name != "" && r.Method != http.MethodPost {
		http.Error(w, "the header "+name+" is there more than once", http.StatusBadRequest)
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
		http.Error(w, "only POST is taken here; GET and DELETE in a session", http.StatusMethodNotAllowed)
	}
}

// foreign says why a request comes from a web page of somebody else: by its
// origin, or by a name that was made to point at this machine (DNS rebinding).
func foreign(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return "requests of other origins are refused"
		}
	}
	here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if ok && isLoopback(here.String()) && !isLoopback(r.Host) {
		return "this server is called localhost"
	}
	return ""
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// servePost takes one message.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	if !isJSON(r.Header.Get("Content-Type")) {
		http.Error(w, "the Content-Type is not application/json", http.StatusUnsupportedMediaType)
		return
	}
	if !accepts(r.Header.Values("Accept")) {
		http.Error(w, "Accept has to have both application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	if !s.reading.enter(maxReading) {
		refuseBusy(w, nil)
		return
	}
	body, err := readBody(w, r, s.maxMessage())
	s.reading.leave()
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
		if !s.requests.enter(maxRequests) {
			refuseBusy(w, m.ID)
			return
		}
		defer s.requests.leave()
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
		http.Error(w, "there are too many sessions; try later", http.StatusServiceUnavailable)
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
		http.Error(w, "there is no such session", http.StatusNotFound)
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
		http.Error(w, "Accept has to have text/event-stream", http.StatusNotAcceptable)
		return
	}
	sess := s.useSession(id)
	if sess == nil {
		http.Error(w, "there is no such session", http.StatusNotFound)
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
