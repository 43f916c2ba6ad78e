package hostproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// tunnel serves CONNECT.
func (v *visit) tunnel(in *bufio.Reader, req *http.Request, host string) {
	if _, _, err := net.SplitHostPort(req.RequestURI); err != nil || req.ContentLength != 0 || len(req.TransferEncoding) > 0 {
		v.refuse(http.StatusBadRequest, errors.New("CONNECT must name a host and a port, and has no body"))
		return
	}
	to, err := v.admit("https", req.RequestURI)
	if err != nil {
		v.refuse(http.StatusForbidden, err)
		return
	}
	if host != "" { // some programs leave the port out
		if other, err := v.proxy.gate.Admit("https", host); err != nil || other.Host != to.Host {
			v.refuse(http.StatusForbidden, errors.New("the Host line names another host than CONNECT"))
			return
		}
	}
	remote, err := v.proxy.gate.Dial(v.proxy.life, to)
	if err != nil {
		v.failed(err)
		return
	}
	defer func() { _ = remote.Close() }() // it ended, or is to end
	_ = v.conn.SetWriteDeadline(time.Now().Add(v.proxy.cfg.Head))
	if _, err := io.WriteString(v.conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		v.told.Failed = "the program has gone"
		return
	}
	_ = v.conn.SetReadDeadline(time.Now().Add(v.proxy.cfg.Head))
	first, err := in.Peek(1)
	switch {
	case err != nil:
		v.told.Failed = "nothing was sent after CONNECT"
	case first[0] == recordHandshake:
		_, notAddr := netip.ParseAddr(to.Host)
		raw, message, err := readHello(in)
		var h hello
		if err == nil {
			h, err = parseHello(message)
		}
		if err == nil {
			err = h.check(to.Host, notAddr == nil)
		}
		if err != nil {
			v.told.Refused = words(err)
			return
		}
		_ = v.conn.SetReadDeadline(time.Time{})
		v.join(v.proxy.life, in, remote, raw)
	case isToken(string(first)):
		// Some programs ask for a tunnel for plain http too. It is read like any other
		// plain request, and goes over a connection of its own.
		_ = remote.Close()
		head, err := readHead(in)
		var inner *http.Request
		var named string
		if err == nil {
			inner, named, err = parseHead(head)
		}
		if err != nil {
			v.refuse(http.StatusBadRequest, err)
			return
		}
		v.request(in, head, inner, named, to)
	default:
		v.told.Refused = "what follows CONNECT is neither TLS nor a plain HTTP request"
	}
}
