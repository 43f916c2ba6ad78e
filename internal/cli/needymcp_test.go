package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// needyMCP is an MCP server that fails to start in the way that its first argument says, or
// starts if it is given what it needs.
func needyMCP() {
	fail := func(code int, lines ...string) {
		for _, line := range lines {
			fmt.Fprintln(os.Stderr, line)
		}
		os.Exit(code)
	}
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case "ends":
		fail(3, "reading the settings", "Error: cannot open settings.json", "    at main (server.js:1:1)")
	case "hangs":
		if len(os.Args) > 2 {
			_ = os.WriteFile(os.Args[2], nil, 0o600) // a test waits for it
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		select {}
	case "nonsense":
		fmt.Println("Welcome to the server!")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "proxy": // its service is reached through a proxy only
		if os.Getenv("HTTP_PROXY") == "" {
			fail(1, "Error: getaddrinfo ENOTFOUND service.invalid")
		}
		req, err := http.NewRequest(http.MethodGet, "http://service.invalid/", nil)
		if err != nil {
			fail(1, err.Error())
		}
		req.Header.Set("Authorization", os.Getenv("API_TOKEN"))
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			fail(1, "Error: "+err.Error())
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			fail(1, "ApiError: "+answer.Status+" for "+os.Getenv("API_TOKEN"))
		}
		fakeMCP()
	case "certificates":
		if _, err := os.Stat(os.Getenv("NODE_EXTRA_CA_CERTS")); err != nil {
			fail(1, "Error: unable to get local issuer certificate")
		}
		fakeMCP()
	}
}

// loopbackProxy is a proxy that stands for a service behind it. It wants this login, if
// there is one, and the service does not know the token wrong.
func loopbackProxy(t *testing.T, login string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		probe := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		user, password, _ := probe.BasicAuth()
		switch {
		case r.URL.Host != "service.invalid":
			w.WriteHeader(http.StatusBadGateway)
		case login != "" && user+":"+password != login:
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Header.Get("Authorization") == wrongToken:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

const wrongToken = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
