package hostproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxHead bounds the head of a request. Heads with many cookies have some 16 KiB.
const maxHead = 64 << 10

var (
	errHead    = errors.New("the request is not written in the plain way")
	errTooLong = errors.New("the head of the request is longer than 64 KiB")
)

// readHead reads the head of a request up to the empty line, byte for byte as it was
// sent. What does not look like text is given up at the first such byte.
func readHead(r *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		line, err := r.ReadSlice('\n')
		head = append(head, line...)
		switch {
		case len(head) > maxHead:
			return head, errTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return head, err
		}
		if len(line) == 2 && len(head) > 2 && line[0] == '\r' && head[len(head)-3] == '\n' {
			return head, nil
		}
		if len(line) < 2 || line[len(line)-2] != '\r' {
			return head, errHead // a bare line feed: readers differ about it
		}
	}
}

// parseHead takes a head apart. It accepts less than net/http does: nothing that two
// readers could take for two different requests.
func parseHead(head []byte) (*http.Request, string, error) {
	lines := strings.Split(strings.TrimSuffix(string(head), "\r\n\r\n"), "\r\n")
	parts := strings.Split(lines[0], " ")
	if len(parts) != 3 || !isToken(parts[0]) || parts[1] == "" || parts[2] != "HTTP/1.1" && parts[2] != "HTTP/1.0" || !isVisible(parts[1]) {
		return nil, "", errHead
	}
	host, hosts, lengths, codings := "", 0, 0, 0
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) || !isText(value) { // a folded line has a blank in its name
			return nil, "", errHead
		}
		value = strings.Trim(value, " \t")
		switch strings.ToLower(name) {
		case "host":
			host = value
			hosts++
		case "content-length":
			lengths++
			if value == "" || len(value) > 18 || strings.Trim(value, "0123456789") != "" {
				return nil, "", errHead
			}
		case "transfer-encoding":
			codings++
			if !strings.EqualFold(value, "chunked") {
				return nil, "", errHead
			}
		}
	}
	if hosts > 1 || hosts == 1 && host == "" || hosts == 0 && parts[2] == "HTTP/1.1" || lengths > 1 || codings > 1 || lengths+codings > 1 || codings > 0 && parts[2] == "HTTP/1.0" {
		return nil, "", errHead
	}
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
	if err != nil {
		return nil, "", errHead
	}
	return req, host, nil
}

// withBody gives a request its body, which follows its head.
func withBody(head []byte, rest *bufio.Reader) (*http.Request, error) {
	return http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(head), rest)))
}

// isToken: what RFC 9110 takes for the name of a method or of a field.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// isText: no control character but the tab. Letters of other scripts may stand in
// values, as bytes that nobody interprets.
func isText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// strip removes the fields that are for the next machine and not for the last one,
// among them those by which a connection becomes another protocol.
func strip(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings"} {
		delete(h, name)
	}
}
