package httpapi

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Certificate is a certificate and its key in two files. They are read again when
// they change, so that one that is renewed needs no restart.
type Certificate struct {
	cert, key string
	log       *slog.Logger // nil: nothing is told
	now       func() time.Time

	mu     sync.Mutex
	pair   *tls.Certificate
	mark   string    // of the files that were looked at last
	looked time.Time // when that was
}

// lookAgain is how long the files are not looked at again.
const lookAgain = time.Second

// LoadCertificate reads the files. Both empty: nil, there is no TLS.
func LoadCertificate(cert, key string, log *slog.Logger) (*Certificate, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil
	case key == "":
		return nil, fmt.Errorf("serve.tls.key is missing: name the file with the private key of %s", cert)
	case cert == "":
		return nil, fmt.Errorf("serve.tls.cert is missing: name the file with the certificate of %s", key)
	}
	c := &Certificate{cert: cert, key: key, log: log, now: time.Now}
	c.mark, c.looked = plainfile.Marks(c.cert, c.key), c.now()
	var err error
	c.pair, err = c.read()
	return c, err
}

// Config is TLS with the certificate of now, in no version below 1.2.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil },
	}
}

// current is the certificate of the files as they are. If they cannot be used, the
// one before goes on to be used: half a renewal must not end the server.
func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) >= lookAgain {
		c.looked = now
		if mark := plainfile.Marks(c.cert, c.key); mark != c.mark {
			c.mark = mark
			pair, err := c.read()
			switch {
			case err == nil:
				c.pair = pair
			case c.log != nil:
				c.log.Warn("the certificate has changed and cannot be used; the one before stays", "err", err)
			}
		}
	}
	return c.pair
}

func (c *Certificate) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("serve.tls: reading the certificate %s with the key %s: %w", c.cert, c.key, err)
	}
	if now := c.now(); now.After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("serve.tls: the certificate %s expired on %s: renew it", c.cert, pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	return &pair, nil
}
