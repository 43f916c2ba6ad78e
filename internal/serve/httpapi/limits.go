package httpapi

import (
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// What a stranger can make a server keep, before it is known who they are.
const (
	headerTime = 10 * time.Second // to send the headers
	headerSize = 64 << 10         // of all headers together
	idleTime   = 3 * time.Minute  // between two requests
)

// NewServer is a server whose connections are bounded. There is no bound on the
// time of a request: streams stay open, and [ReadBody] bounds what comes in.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerSize, IdleTimeout: idleTime}
	if log != nil {
		srv.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	}
	return srv
}

// Limiter counts what is there at once.
type Limiter struct{ n atomic.Int64 }

// Enter reports whether there was a place; it has to be left then.
func (l *Limiter) Enter(most int64) bool {
	if l.n.Add(1) > most {
		l.n.Add(-1)
		return false
	}
	return true
}

// Used tells how many places are taken.
func (l *Limiter) Used() int64 { return l.n.Load() }

// Leave gives a place back.
func (l *Limiter) Leave() { l.n.Add(-1) }
