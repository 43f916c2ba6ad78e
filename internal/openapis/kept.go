package openapis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

// keep writes a file of state in the place of the old one.
func (a *APIs) keep(name string, content []byte) (err error) {
	root := a.store.Root
	if root == nil || a.needs.ReadOnly {
		return nil
	}
	temp := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	defer func() {
		if err != nil {
			err = fmt.Errorf("keeping an OpenAPI document: %w", err)
			_ = root.Remove(temp) // it may not be there; the first error counts
		}
	}()
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(temp, name)
}

var errKept = errors.New("what was kept of the document cannot be used; 'toolcrib openapi diff' fetches it anew")

// kept reads the text of a document, which is believed if it is the one of its sum.
func (a *APIs) kept(name, sum string) ([]byte, error) {
	if a.store.Root == nil {
		return nil, ErrUnfetched
	}
	content, err := readBounded(a.store.Root, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKept, err)
	}
	if sumOf(content) != sum {
		return nil, fmt.Errorf("%w: it was changed by somebody else", errKept)
	}
	return content, nil
}

// worthKeeping is how large a document is that is not read again if that can be spared.
const worthKeeping = 32 << 10

// header stands before what was made of a document.
type header struct {
	Seal   string            `json:"seal"`
	Beside map[string]string `json:"beside,omitempty"` // sums of the other files that were read
}

// seal is good for one document, one set-up, one program and one text; only this program makes
// it.
func (a *APIs) seal(api *API, cfg openapi.Config, beside map[string]string, text []byte) string {
	if len(beside) == 0 {
		beside = nil // as it is read back
	}
	others, err := json.Marshal(beside)
	if err != nil || a.store.Seals == nil {
		return ""
	}
	return a.store.Seals.Digest("openapi ready", api.name, api.sum, fingerprint(cfg), a.build, a.needs.Version, string(others), sumOf(text))
}

// thisBuild tells one program from another: what one kept, another may read otherwise. Empty: it
// cannot be told.
func thisBuild() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	stat, err := os.Stat(exe)
	if err != nil {
		return ""
	}
	return fmt.Sprint(exe, " ", stat.Size(), " ", stat.ModTime().UnixNano())
}

// freeze keeps what was made of a document. That it cannot be kept costs time and nothing else.
func (a *APIs) freeze(api *API, cfg openapi.Config, box *openapi.Box, beside map[string]string, size int) {
	if a.store.Root == nil || a.needs.ReadOnly || size < worthKeeping || a.build == "" {
		return
	}
	text, err := box.Freeze()
	var head []byte
	if err == nil {
		head, err = json.Marshal(header{a.seal(api, cfg, beside, text), beside})
	}
	if err == nil {
		err = a.keep("ready-"+api.name, append(append(head, '\n'), text...))
	}
	if err != nil {
		a.needs.Log.Debug("what was made of an OpenAPI document is not kept", "api", api.name, "err", err)
	}
}

// thaw gives what was made of a document before; nil: it has to be read.
func (a *APIs) thaw(api *API, cfg openapi.Config, needs openapi.Needs) *openapi.Box {
	if a.store.Root == nil {
		return nil
	}
	f, err := a.store.Root.Open("ready-" + api.name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || info.Size() > 4*mostDocument {
		return nil
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return nil
	}
	line, text, ok := bytes.Cut(content, []byte{'\n'})
	var head header
	if !ok || json.Unmarshal(line, &head) != nil || head.Seal == "" || head.Seal != a.seal(api, cfg, head.Beside, text) {
		return nil
	}
	for name, sum := range head.Beside {
		if needs.ReadFile == nil {
			return nil
		}
		if content, err := needs.ReadFile(name); err != nil || sumOf(content) != sum {
			return nil
		}
	}
	box, err := openapi.Thaw(cfg, needs, text)
	if err != nil {
		return nil
	}
	return box
}
