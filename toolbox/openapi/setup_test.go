package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/config"
)

// newBox opens a document of one server.
func newBox(t testing.TB, doc string, cfg Config) *Box {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "api"
	}
	b, err := Open(t.Context(), cfg, Needs{Document: []byte(doc), YAML: config.Decode, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serve starts a server that answers every request in one way.
func serve(t testing.TB, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s
}

// newEnv grants the loopback address, the secrets and a directory.
func newEnv(t testing.TB, secrets map[string]string) *toolcrib.Env {
	t.Helper()
	gate := httpclient.NewGate([]string{"127.0.0.1"}, httpclient.Options{})
	t.Cleanup(gate.Close)
	env := &toolcrib.Env{HTTP: gate.Client(), Emit: func(toolcrib.Event) {}}
	if secrets != nil {
		env.Secret = func(_ context.Context, name string) (string, error) {
			if v, ok := secrets[name]; ok {
				return v, nil
			}
			return "", errors.New("no such secret")
		}
	}
	return env
}

// granted adds a directory to write in.
func granted(t testing.TB, env *toolcrib.Env, dir string) *toolcrib.Env {
	t.Helper()
	h, err := files.New([]files.Dir{{Path: dir, Write: true}}, files.Options{Base: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	env.Files = h
	return env
}

// use calls a tool of a box.
func use(t testing.TB, b *Box, env *toolcrib.Env, tool, input string) (*toolcrib.Result, error) {
	t.Helper()
	tools, err := b.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, have := range tools {
		if have.Name == tool {
			return have.Run(t.Context(), env, json.RawMessage(input))
		}
	}
	t.Fatalf("there is no tool %s; faults: %v", tool, b.Faults())
	return nil, nil
}

// mustUse calls a tool that has to succeed.
func mustUse(t testing.TB, b *Box, env *toolcrib.Env, tool, input string) *toolcrib.Result {
	t.Helper()
	r, err := use(t, b, env, tool, input)
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, input, err)
	}
	if r.Failed {
		t.Fatalf("%s(%s): %s", tool, input, r)
	}
	return r
}

// oneOp is a document with one operation, which is called op.
func oneOp(server, method, path, rest string) string {
	return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"servers":[{"url":"` + server + `"}],"paths":{"` + path + `":{"` +
		strings.ToLower(method) + `":{"operationId":"op","responses":{"200":{"description":"ok"}}` + rest + `}}}}`
}
