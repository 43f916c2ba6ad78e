// Package hookrun asks the hooks of the settings: programs and services that judge
// calls. The wiring hands what it makes to the guards of internal/safety, which
// know no program and no network.
//
// Its one invariant: a hook gets the question and nothing else, and nothing of it
// is left behind.
package hookrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib/internal/plainaddr"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// Run sends a request to a hook and gives its reply.
type Run = func(ctx context.Context, request []byte) ([]byte, error)

// errTooLong ends a reply that no answer is as long as.
var errTooLong = errors.New("the reply is too long")

// Command runs a program for each question: no shell, nothing inherited,
// and nothing of it is left behind.
func Command(argv []string, env map[string]string, dir string) (Run, error) {
	if !filepath.IsAbs(argv[0]) {
		return nil, fmt.Errorf("command: %s is not a full path", argv[0])
	}
	if info, err := os.Stat(argv[0]); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("command: %s is no program", argv[0])
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the directory that hooks run in: %w", err)
		}
	} else {
		dir = filepath.VolumeName(argv[0]) + string(filepath.Separator)
	}
	argv = slices.Clone(argv)
	vars := []string{"PATH=" + strings.Join(shellguard.SystemDirs(), string(os.PathListSeparator)), "LANG=C.UTF-8"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		vars = append(vars, name+"="+env[name])
	}
	return func(ctx context.Context, request []byte) ([]byte, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		stdout := &bounded{most: safety.MaxHookReply, full: func() { cancel(errTooLong) }}
		stderr := &bounded{most: 4 << 10}
		c := exec.CommandContext(ctx, argv[0], argv[1:]...)
		c.Env, c.Dir = systemEnv(vars), dir // not the project, nor where other accounts can write: a program that looks around would find what lies there
		c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(request), stdout, stderr
		c.WaitDelay = time.Second // for what holds on to the output
		ownGroup(c)
		err := c.Run()
		endGroup(c)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("running %s: %w", argv[0], context.Cause(ctx))
		case err != nil:
			return nil, fmt.Errorf("running %s: %w: %s", argv[0], err, safety.Neutral(strings.TrimSpace(stderr.String())))
		}
		return stdout.Bytes(), nil
	}, nil
}

// bounded takes what is written until there is too much of it.
type bounded struct {
	bytes.Buffer
	most int
	full func() // nil: the rest is dropped
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) <= b.most {
		return b.Buffer.Write(p)
	}
	if b.full != nil {
		b.full()
		return 0, errTooLong
	}
	b.Buffer.Write(p[:b.most-b.Len()])
	return len(p), nil
}

// ReadFrom is not the buffer's own, which knows no bound.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, r)
}

// HTTP posts each question. It goes where it was told to and nowhere else:
// no proxy, no redirect, and what is not encrypted stays on this machine.
func HTTP(address string, headers map[string]string) (Run, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("url: %w", err)
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, errors.New("url: want https://host/path, without a name and a password")
	case u.Scheme != "https" && (u.Scheme != "http" || !plainaddr.IsLoopback(u.Hostname())):
		return nil, errors.New("url: want https, or http on this machine (127.0.0.1, [::1] or localhost)")
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if u.Scheme == "http" { // it is looked where localhost leads
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !at.Addr().Unmap().IsLoopback() {
				return fmt.Errorf("%s is not on this machine", address)
			}
			return nil
		}
	}
	client := &http.Client{
		Transport: &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4,
			IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	headers = maps.Clone(headers)
	return func(ctx context.Context, request []byte) (reply []byte, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(request))
		if err != nil {
			return nil, err
		}
		for name, value := range headers {
			req.Header.Set(name, value)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, resp.Body.Close()) }()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("posting to %s: it answered %d", u.Host, resp.StatusCode)
		}
		if reply, err = io.ReadAll(io.LimitReader(resp.Body, safety.MaxHookReply+1)); err != nil {
			return nil, fmt.Errorf("posting to %s: %w", u.Host, err)
		}
		if len(reply) > safety.MaxHookReply {
			return nil, errTooLong
		}
		return reply, nil
	}, nil
}
