package hostproxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/text"
)

// handle serves one connection, and tells whether anything was asked for.
func (v *visit) handle() bool {
	_ = v.conn.SetReadDeadline(time.Now().Add(v.proxy.cfg.Head)) // a connection without deadlines fails at the first byte
	in := bufio.NewReaderSize(v.conn, 8<<10)
	head, err := readHead(in)
	if err != nil {
		if len(head) == 0 {
			return false
		}
		v.refuse(http.StatusBadRequest, err)
		return true
	}
	req, host, err := parseHead(head)
	switch {
	case err != nil:
		v.refuse(http.StatusBadRequest, err)
	case req.Method == http.MethodConnect:
		v.tunnel(in, req, host)
	default:
		v.request(in, head, req, host, httpclient.Target{})
	}
	return true
}

// request sends a plain request on. Within a tunnel it must be for its target.
func (v *visit) request(in *bufio.Reader, head []byte, req *http.Request, host string, tunnel httpclient.Target) {
	within := tunnel != httpclient.Target{}
	switch {
	case req.Method == http.MethodConnect:
		v.refuse(http.StatusBadRequest, errors.New("a tunnel within a tunnel is not allowed"))
		return
	case within && (!strings.HasPrefix(req.RequestURI, "/") && req.RequestURI != "*" || host == ""):
		v.refuse(http.StatusBadRequest, errors.New("within a tunnel a request names its path, and its host in a Host line"))
		return
	case !within && strings.HasPrefix(req.RequestURI, "/"):
		v.refuse(http.StatusBadRequest, errors.New("this is a proxy: a request must name its whole address"))
		return
	case !within && req.URL.Scheme != "http":
		v.refuse(http.StatusBadRequest, errors.New("only http is sent on; https goes by CONNECT"))
		return
	}
	address := req.URL.Host
	if within {
		address = host
	}
	if req.URL.User != nil {
		v.told.Host, v.told.Port = named("http", address)
		v.refuse(http.StatusForbidden, errors.New("a user name or password in the address is not allowed; send credentials in a header"))
		return
	}
	to := tunnel
	if !within {
		var err error
		if to, err = v.admit("http", address); err != nil {
			v.refuse(http.StatusForbidden, err)
			return
		}
	}
	scheme := "http"
	if within && to.Port == "443" {
		scheme = "https" // only for the port that a Host line may leave out
	}
	if host != "" && !v.proxy.gate.Same(scheme, host, to) && !v.proxy.gate.Same("http", host, to) {
		v.refuse(http.StatusForbidden, errors.New("the Host line names another host than the address of the request"))
		return
	}
	v.send(in, head, to)
}

// send makes the request anew for its host, so that nothing goes there that was not
// understood here.
func (v *visit) send(in *bufio.Reader, head []byte, to httpclient.Target) {
	req, err := withBody(head, in)
	if err != nil {
		v.refuse(http.StatusBadRequest, errHead)
		return
	}
	ctx, cancel := context.WithCancel(v.proxy.life)
	defer cancel()
	idle := newIdle(v.proxy.cfg.Idle, cancel)
	defer idle.stop()
	_ = v.conn.SetReadDeadline(time.Time{}) // the body takes as long as it takes; idle ends it
	out := req.Clone(ctx)
	out.RequestURI, out.Close = "", false
	out.URL.Scheme, out.URL.Host, out.URL.User = "http", to.Address(), nil
	if to.Port == "80" {
		out.URL.Host = strings.TrimSuffix(out.URL.Host, ":80")
	}
	out.Host = out.URL.Host
	out.Body = &counting{ReadCloser: req.Body, n: &v.sent, idle: idle}
	if req.Body == nil || req.Body == http.NoBody {
		out.Body = http.NoBody
	}
	strip(out.Header)
	out.Trailer = nil
	for name, none := range map[string]string{"Accept-Encoding": "identity", "User-Agent": ""} {
		if _, ok := out.Header[name]; !ok {
			out.Header[name] = []string{none} // or Go would put in its own
		}
	}
	resp, err := v.proxy.gate.RoundTrip(out)
	if err != nil {
		v.failed(err)
		return
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or nobody wants it
	if resp.StatusCode == http.StatusSwitchingProtocols {
		v.failed(errors.New("the host wants to speak another protocol"))
		return
	}
	v.sent.Add(int64(len(head)))
	strip(resp.Header)
	resp.Close, resp.Request = true, req
	resp.Proto, resp.ProtoMajor, resp.ProtoMinor = "HTTP/1.1", 1, 1
	resp.Body = &counting{ReadCloser: resp.Body, n: &v.received, idle: idle}
	if err := resp.Write(&patient{v.conn, v.proxy.cfg.Idle}); err != nil {
		v.told.Failed = "the answer was cut off"
	}
}

// refuse answers that it was not let through, and why.
func (v *visit) refuse(status int, err error) {
	v.told.Refused = words(err)
	v.answer(status, v.told.Refused)
}

// failed answers that nothing came of it. What the gate refused when the address
// was known is a refusal all the same.
func (v *visit) failed(err error) {
	if e, ok := errors.AsType[*refusal.Error](err); ok {
		v.refuse(http.StatusForbidden, e)
		return
	}
	v.told.Failed = words(err)
	v.answer(http.StatusBadGateway, v.told.Failed)
}

// answer writes a small page. A program shows it, or at least its status.
func (v *visit) answer(status int, why string) {
	why = "toolcrib: " + text.Clip(why, maxWords)
	_ = v.conn.SetWriteDeadline(time.Now().Add(v.proxy.cfg.Head))
	_, err := io.WriteString(v.conn, "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+"\r\nContent-Type: text/plain; charset=utf-8\r\nX-Toolcrib-Refused: "+
		strconv.QuoteToASCII(why)+"\r\nContent-Length: "+strconv.Itoa(len(why)+1)+"\r\nConnection: close\r\n\r\n"+why+"\n")
	if err == nil {
		v.linger()
	}
}

// linger lets a program read the answer that is still sending: closed at once, the
// kernel would throw the answer away.
func (v *visit) linger() {
	if c, ok := v.conn.(interface{ CloseWrite() error }); ok && c.CloseWrite() == nil {
		_ = v.conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, v.conn, 256<<10)
	}
}

// words is what a program, a person and the journal are told. A host that answers
// with something else than HTTP is quoted in it, at whatever length.
func words(err error) string {
	if e, ok := errors.AsType[*refusal.Error](err); ok {
		return text.Clip(e.Message, maxWords)
	}
	return text.Clip(err.Error(), maxWords)
}

const maxWords = 500

// named is a host and a port as they were asked for, fit to be shown.
func named(scheme, hostport string) (host, port string) {
	host, port = hostport, map[string]string{"http": "80", "https": "443"}[scheme]
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host, port = h, p
	}
	if host = text.Clip(host, 253); !isVisible(host) || strings.ContainsAny(host, `"\`) {
		host = strconv.QuoteToASCII(host)
	}
	if len(port) > 5 || strings.Trim(port, "0123456789") != "" {
		port = ""
	}
	return host, port
}
