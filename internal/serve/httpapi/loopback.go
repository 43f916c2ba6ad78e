package httpapi

import (
	"context"
	"net"
	"net/http"
)

// Loopback answers on an address of this machine until stop is called: a login page sends its
// answer there. Port 0 stands for a free one.
func Loopback(ctx context.Context, addr string, h http.Handler) (at string, stop func(), err error) {
	ln, err := Listen(ctx, Listening{Address: addr})
	if err != nil {
		return "", nil, err
	}
	srv := NewServer(h, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(ln) // it ends when it is closed
	}()
	return ln.Addr().(*net.TCPAddr).String(), func() {
		_ = srv.Close() // nobody waits for more
		<-ended
	}, nil
}
