package python

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/interpreter"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// kept is what an interpreter said, and of what.
type kept struct {
	Of   string    `json:"of"`
	List installed `json:"list"`
	// Failed is why it said nothing, and At when that was.
	Failed string    `json:"failed,omitzero"`
	At     time.Time `json:"at,omitzero"`
}

// failedFor is how long an interpreter that failed is not asked again: whoever calls
// any tool would wait for it.
const failedFor = 10 * time.Minute

// installed asks an interpreter what it has. What it said last counts while nothing
// was installed or removed since, so that a call need not wait for it.
func (f *finder) installed(ctx context.Context, name string, p settings.Python, in interpreter.Interpreter, host string, d declaration) (installed, error) {
	sum := sha256.Sum256([]byte(strings.Join([]string{host, in.Path, p.Sandbox, fmt.Sprint(p.Read, p.Write, p.Hosts, p.Env), in.Marks()}, "\x00")))
	of := hex.EncodeToString(sum[:]) // variables may hold what nobody is to read there
	file := ""
	if f.h.needs.State != "" {
		file = filepath.Join(f.h.needs.State, "opm-"+boxName(name)+".json")
	}
	var was kept
	if content, err := plainfile.Read(file, mostListed); file != "" && err == nil && json.Unmarshal(content, &was) == nil && was.Of == of && !f.anew {
		switch since := time.Since(was.At); {
		case was.Failed == "":
			return was.List, nil
		case since >= 0 && since < failedFor:
			return installed{}, errors.New(was.Failed)
		}
	}
	if f.h.needs.Start == nil { // it is only looked at
		if was.Of == "" {
			return was.List, unasked(name)
		}
		return was.List, nil
	}
	now := kept{Of: of}
	list, failed := f.ask(ctx, name, p, in, host, d)
	if failed == nil {
		now.List = list
	} else if now.Failed, now.At = failed.Error(), time.Now(); ctx.Err() != nil {
		return list, failed // nobody waits any more, which says nothing about it
	}
	if file != "" {
		content, err := json.Marshal(now)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), durable.Replace(file, content, 0o600))
		}
		if err != nil {
			f.h.needs.Log.Warn("what an interpreter has is not kept", "python", name, "err", err)
		}
	}
	return list, failed
}

// unasked is the error of an entry whose interpreter nobody has asked yet.
type unasked string

func (u unasked) Error() string {
	return "its toolboxes were not looked for yet: toolcrib hub test --all does it, and so does any call"
}

// Is it one? It is to be told, and no mistake of the settings.
func (u unasked) Is(other error) bool { return other == mcphub.ErrUnlisted }

// mostListed bounds what an interpreter says.
const mostListed = 4 << 20

// ask runs the host in the sandbox of the entry, with its grant.
func (f *finder) ask(ctx context.Context, name string, p settings.Python, in interpreter.Interpreter, host string, d declaration) (installed, error) {
	limit := p.StartTimeout
	if limit == 0 {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := d.server(in, host, []string{"list", "--opm"})
	said := &lastWords{}
	l := mcphub.Launch{Server: "python." + name, Command: s.Command, Args: s.Args, Sandbox: s.Sandbox, Grant: s.Grant, Tools: s.Tools, Stderr: said, Env: map[string]string{}}
	for variable, value := range s.Env {
		if full, err := f.h.needs.Expand(ctx, value); err == nil { // what cannot be had is told when a toolbox starts
			l.Env[variable] = full
		}
	}
	process, err := f.h.Starting(f.h.needs.Start)(ctx, l)
	if err != nil {
		return installed{}, err
	}
	defer process.Kill()
	stop := context.AfterFunc(ctx, process.Kill)
	defer stop()
	_ = process.Stdin.Close() // it reads none
	out, err := io.ReadAll(io.LimitReader(process.Stdout, mostListed+1))
	if err != nil {
		return installed{}, err
	}
	if len(out) > mostListed {
		return installed{}, fmt.Errorf("%s says more than %d bytes about what is installed", in.Path, mostListed)
	}
	<-process.Done
	if ctx.Err() != nil {
		return installed{}, fmt.Errorf("%s did not say within %v what is installed%s", in.Path, limit, said.words())
	}
	var list installed
	if err := json.Unmarshal(bytes.TrimSpace(out), &list); err != nil {
		return list, fmt.Errorf("%s did not say what is installed: %w%s", in.Path, process.Err(), said.words())
	}
	return list, nil
}

// lastWords is the end of what a program wrote to its log.
type lastWords struct {
	mu   sync.Mutex
	tail []byte
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, p...)
	if most := 4 << 10; len(w.tail) > most {
		w.tail = w.tail[len(w.tail)-most:]
	}
	return len(p), nil
}

// words gives the last line, as data.
func (w *lastWords) words() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.tail)), "\n")
	last := text.ShowLine(text.Clip(strings.ToValidUTF8(lines[len(lines)-1], ""), 500))
	if last == "" {
		return ""
	}
	return " (it said: " + last + ")"
}
