package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// keepAlive is how often a stream on which nothing happens shows that it is
// still there: what stands between may close it otherwise.
const keepAlive = 25 * time.Second

// serveListen tells a client of the modern era of what it wants to hear, until
// it hangs up or its token has expired.
func (s *Server) serveListen(ctx context.Context, v *clientRequest) (json.RawMessage, error) {
	ctx, done := httpapi.Listens(ctx)
	defer done()
	var p struct {
		Wants *struct {
			Tools     bool     `json:"toolsListChanged"`
			Prompts   bool     `json:"promptsListChanged"`
			Resources bool     `json:"resourcesListChanged"`
			URIs      []string `json:"resourceSubscriptions"`
		} `json:"notifications"`
	}
	if json.Unmarshal(v.raw, &p) != nil || p.Wants == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "it does not say which notifications are wanted")
	}
	bytes := 0
	for _, uri := range p.Wants.URIs {
		bytes += len(uri)
	}
	if len(p.Wants.URIs) > maxSubscriptions || bytes > maxURIs {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "at most %d resources can be subscribed to, whose names have at most %d bytes together", maxSubscriptions, maxURIs)
	}
	if !s.listens.Enter(maxListens) {
		return nil, busy("too many requests listen already; end one of them")
	}
	defer s.listens.Leave()
	// It may take very long: what has been read is not kept.
	v.raw, *v.params = nil, params{}
	shelf := s.cfg.Shelf != nil
	tools, prompts, resources := p.Wants.Tools, p.Wants.Prompts && shelf, p.Wants.Resources && shelf
	var uris []string
	var mu sync.Mutex
	wanted := make(map[string]bool, len(p.Wants.URIs))
	for _, uri := range p.Wants.URIs {
		wanted[uri] = true
	}
	// Heard from here on, so that nothing is missed between subscribing and telling so.
	l := newListener(s.callerOf(v), func(method, uri string) bool {
		switch method {
		case mcp.NotifyTools:
			return tools
		case mcp.NotifyPrompts:
			return prompts
		case mcp.NotifyResources:
			return resources
		case mcp.NotifyResource:
			mu.Lock()
			defer mu.Unlock()
			return wanted[uri]
		}
		return false
	})
	defer s.listen(l)()
	defer func() {
		if len(uris) > 0 {
			go s.unsubscribeAll(&clientRequest{server: s, client: v.client, reply: noReply{}, params: &params{}}, uris)
		}
	}()
	for _, uri := range slices.Compact(slices.Sorted(slices.Values(p.Wants.URIs))) {
		if !shelf {
			break
		}
		if err := s.subscribe(ctx, v, uri); err != nil {
			s.cfg.Log.Debug("a client cannot subscribe to a resource", "uri", uri, "err", err)
			mu.Lock()
			delete(wanted, uri) // what it is told of is what was agreed
			mu.Unlock()
			continue
		}
		uris = append(uris, uri)
	}
	var agreed object
	for _, one := range []struct {
		name string
		is   bool
	}{{"toolsListChanged", tools}, {"promptsListChanged", prompts}, {"resourcesListChanged", resources}} {
		if one.is {
			agreed.flag(one.name, true)
		}
	}
	if len(uris) > 0 {
		agreed.raw("resourceSubscriptions", texts(uris))
	}
	var told object
	told.raw("notifications", agreed.end())
	if err := v.reply.send(ctx, tagged(mcp.NotifySubscribed, told.end(), v.id)); err != nil {
		return nil, err
	}
	if tools || prompts || resources || len(uris) > 0 {
		if err := s.tellChanges(ctx, v, l); err != nil {
			return nil, err
		}
	}
	var o, meta object
	o.text("resultType", mcp.ResultComplete)
	meta.raw(mcp.MetaSubscription, v.id)
	meta.raw(mcp.MetaServer, s.info)
	o.raw("_meta", meta.end())
	return o.end(), nil
}

// tellChanges passes on what changes until the server is closed or the client
// says nothing more, which is no error, or the client hangs up.
func (s *Server) tellChanges(ctx context.Context, v *clientRequest, l *listener) error {
	var silent <-chan struct{}
	if w, ok := v.reply.(*lineReply); ok {
		silent = w.silent
	}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-l.wake:
			for _, n := range l.drain() {
				if err := v.reply.send(ctx, tagged(n.method, n.params, v.id)); err != nil {
					return err
				}
			}
		case <-tick.C:
			if w, ok := v.reply.(*response); ok {
				w.comment(ctx)
			}
		case <-silent:
			return nil
		case <-s.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tagged is a notification for the client that listens under this ID.
func tagged(method string, params, id json.RawMessage) *mcp.Message {
	had := objectMembers(params)
	var o, meta object
	meta.rest(objectMembers(had["_meta"]), mcp.MetaSubscription)
	meta.raw(mcp.MetaSubscription, id)
	o.rest(had, "_meta")
	o.raw("_meta", meta.end())
	return &mcp.Message{Method: method, Params: o.end()}
}
