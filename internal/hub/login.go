package hub

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Login is how tokens are got. Page shows a person a page; nil: nobody is there.
// Web is for servers of this machine and its network.
func Login(tokens mcphub.Tokens, web *http.Client, page func(ctx context.Context, url string) error) mcphub.Login {
	public := httpclient.New([]string{"*"}, httpclient.Options{})
	return mcphub.Login{
		Tokens: tokens, Page: page, Serve: httpapi.Loopback,
		// Where a server elsewhere says that one logs in is its word: it must
		// not lead into this machine or its network, unless the server is there.
		HTTP: func(_, at string) *http.Client {
			if private(at) {
				return web
			}
			return public
		},
	}
}

// private reports whether an address is written as one of this machine or its
// network.
func private(at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast())
}
