package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/toolbox/lsp/internal/frame"
	"github.com/toolcrib/toolcrib/toolbox/lsp/internal/position"
)

// maxMessage bounds what a server may send at once.
const maxMessage = 64 << 20

// server is one that runs.
type server struct {
	box  *Box
	spec Server
	root string
	key  key

	conn   *mcp.Conn
	stream *frame.Stream
	stop   context.CancelFunc
	done   chan struct{} // closed when its program has ended and all is told
	exit   error         // why it ended; valid once done is closed
	stderr *tail
	caps   capabilities
	ready  chan struct{} // closed when it has started, or has failed to
	failed error         // valid once ready is closed

	turn chan struct{} // holds one token: who has it brings the documents up to date

	mu       sync.Mutex
	users    int
	used     time.Time
	silent   int // questions in a row that it did not answer in time
	docs     map[string]*document
	disk     map[string]Seen
	scanned  time.Time
	told     time.Time // when it was last told of a change
	known    map[string]*published
	pulls    map[string]bool // wishes to be asked for diagnostics, by their IDs
	working  map[string]bool // tokens of work that it has begun and not ended
	starting bool            // it says that it is not ready yet
	begun    time.Time
	news     chan struct{} // closed and replaced whenever something above was told
}

func newServer(b *Box, spec Server, k key) *server {
	s := &server{
		box: b, spec: spec, root: k.root, key: k, starting: len(spec.Ready) > 0, begun: time.Now(), stderr: &tail{most: 4 << 10},
		done: make(chan struct{}), ready: make(chan struct{}), turn: make(chan struct{}, 1), news: make(chan struct{}),
		docs: map[string]*document{}, known: map[string]*published{}, working: map[string]bool{}, pulls: map[string]bool{}, used: time.Now(),
	}
	s.turn <- struct{}{}
	return s
}

// start starts the program and greets it. It returns when that has worked or failed.
func (s *server) start(program string, dirs []files.Dir, denied []string) {
	defer close(s.ready)
	life, kill := context.WithCancel(context.Background())
	fromUs, stdin := io.Pipe()
	stdout, fromIt := io.Pipe()
	s.stop = kill
	s.stream = frame.New(stdout, stdin, maxMessage, func() error {
		kill()
		return errors.Join(stdin.Close(), stdout.Close())
	})
	s.conn = mcp.NewConn(life, s.stream, mcp.Handler{
		Request: s.answer, Notification: s.heard, Most: 64, Quiet: true,
		Cancel: func(id json.RawMessage) (string, json.RawMessage) {
			return "$/cancelRequest", json.RawMessage(fmt.Appendf(nil, `{"id":%s}`, id))
		},
	})
	ended := make(chan error, 1)
	go func() {
		exit, err := s.box.needs.Run(life, Program{
			Server: s.spec.Name, Path: program, Args: s.spec.Args, Dir: s.root, Dirs: dirs, Denied: denied,
			Stdin: fromUs, Stdout: fromIt, Stderr: s.stderr,
		})
		_ = fromIt.CloseWithError(io.EOF) // both never fail
		_ = fromUs.CloseWithError(io.ErrClosedPipe)
		ended <- howEnded(exit, err, life.Err() != nil)
	}()
	go func() {
		read := s.conn.Run()
		stopped := life.Err() != nil
		_ = s.conn.Close() // ends the program as well; its exit says more
		err := <-ended
		if errors.Is(read, frame.ErrFraming) && !stopped {
			err = read
		}
		s.exit = err
		close(s.done)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), s.box.cfg.Start)
	defer cancel()
	if err := s.greet(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("it did not start within %s (toolboxes.lsp.start_timeout)", s.box.cfg.Start)
		} else if hungUp(err) {
			s.lastWords()
		}
		s.kill()
		s.failed = s.because(err)
	}
}

// greet agrees with a server on how to talk.
func (s *server) greet(ctx context.Context) error {
	seen, _ := s.box.needs.Scan(ctx, s.root, s.spec.goesBy) // what changes from now on it is told
	s.remember(seen, time.Now())
	folder := map[string]string{"uri": uriOf(s.root), "name": filepath.Base(s.root)}
	var greeting struct {
		Capabilities capabilities `json:"capabilities"`
	}
	err := s.ask(ctx, "initialize", map[string]any{
		"processId": nil, "clientInfo": map[string]string{"name": "toolcrib"}, "locale": "en",
		"rootUri": folder["uri"], "rootPath": s.root, "workspaceFolders": []any{folder},
		"capabilities": json.RawMessage(clientCapabilities), "initializationOptions": orNull(s.spec.Options), "trace": "off",
	}, &greeting)
	if err != nil {
		return err
	}
	s.caps = greeting.Capabilities
	s.caps.Encoding = cmp.Or(s.caps.Encoding, position.UTF16)
	if !s.caps.Encoding.Known() {
		return fmt.Errorf("it counts columns in %q, which is not known here", s.caps.Encoding)
	}
	if has(s.caps.Diagnostics) {
		s.mu.Lock()
		s.pulls[""] = true
		s.mu.Unlock()
	}
	if err := s.tell(ctx, "initialized", struct{}{}); err != nil || s.spec.Settings == nil {
		return err
	}
	return s.tell(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": s.spec.Settings})
}

// ask makes a request and reads its answer.
func (s *server) ask(ctx context.Context, method string, params, answer any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	s.stream.Asked()
	result, err := s.conn.Call(ctx, method, text, nil)
	if err != nil {
		return err
	}
	if raw, ok := answer.(*json.RawMessage); ok {
		*raw = result
		return nil
	}
	if err := json.Unmarshal(result, answer); err != nil {
		return fmt.Errorf("the answer to %s cannot be read: %w", method, err)
	}
	return nil
}

// tell sends a notification.
func (s *server) tell(ctx context.Context, method string, params any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return s.conn.Notify(ctx, method, text)
}

// dead reports whether it has ended, or has failed to start.
func (s *server) dead() bool {
	select {
	case <-s.conn.Done():
		return true
	default:
		return false
	}
}

// kill ends it at once and waits until it is gone.
func (s *server) kill() {
	_ = s.conn.Close() // what it would say is of no use any more
	s.stop()
	<-s.done
}

// leave lets it end by itself, for a moment.
func (s *server) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var nothing json.RawMessage
	if s.ask(ctx, "shutdown", nil, &nothing) == nil && s.tell(ctx, "exit", nil) == nil {
		select {
		case <-s.done:
		case <-ctx.Done():
		}
	}
	s.kill()
}

// lastWords has what a server that ends has sent read to its end: it says why.
func (s *server) lastWords() {
	select {
	case <-s.done:
	case <-time.After(2 * time.Second): // it goes on: the reason is another one
	}
}

// hangUp ends a conversation with a server that reads nothing any more. Its program has
// ended, or is about to, even if nobody has read the end of its output yet.
func (s *server) hangUp() {
	s.lastWords()
	_ = s.conn.Close()
}

// hungUp: a question failed because the server has ended.
func hungUp(err error) bool {
	return errors.Is(err, mcp.ErrClosed) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, context.Canceled)
}

// because says why a question to it failed, with what it complained of at its end.
func (s *server) because(err error) error {
	if hungUp(err) {
		s.lastWords()
	}
	select {
	case <-s.done:
		if hungUp(err) {
			err = s.exit
		}
	default:
		return fmt.Errorf("the language server %s: %w", s.spec.Name, err)
	}
	if said := strings.TrimSpace(s.stderr.text()); said != "" {
		return fmt.Errorf("the language server %s: %w. It printed:\n%s", s.spec.Name, err, said)
	}
	return fmt.Errorf("the language server %s: %w", s.spec.Name, err)
}

// howEnded says how a program ended.
func howEnded(exit toolcrib.Exit, err error, stopped bool) error {
	switch {
	case stopped:
		return errors.New("it was ended")
	case err != nil:
		return err
	case exit.Signal != "":
		return fmt.Errorf("it was ended by %s", exit.Signal)
	case exit.TimedOut:
		return errors.New("it was ended, since its time was over")
	}
	return fmt.Errorf("it ended with status %d", exit.Code)
}

func orNull(text json.RawMessage) json.RawMessage {
	if text == nil {
		return json.RawMessage("null")
	}
	return text
}

// tail is the end of what a server complains of.
type tail struct {
	mu   sync.Mutex
	data []byte
	most int
}

// Write never fails, so that no server ever waits for somebody to read it.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-t.most):]...)
	if len(t.data) > 4*t.most {
		t.data = append([]byte(nil), t.data[len(t.data)-t.most:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data[max(0, len(t.data)-t.most):]), "\uFFFD")
}
