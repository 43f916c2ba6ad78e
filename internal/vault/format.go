package vault

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

const (
	magic     = "toolcrib vault 1\n"
	maxHeader = 8 << 10
	maxFile   = 64 << 20
)

// header is the readable part of a store: which key it wants.
type header struct {
	Key     string `json:"key"`
	Wrapped []byte `json:"wrapped,omitempty"`
}

// entry is one secret.
type entry struct {
	value   string
	changed time.Time
}

// content is the hidden part of a store.
type content struct {
	secrets map[Ref]entry
	// retired has the keys that rotations put out of use and could not yet
	// prove to be removed from their keyring.
	retired []string
}

// The written form. A value is bytes, so that any value is kept as it is.
type (
	writtenContent struct {
		Retired []string       `json:"retired,omitempty"`
		Secrets []writtenEntry `json:"secrets"`
	}
	writtenEntry struct {
		Ref
		Value   []byte    `json:"value"`
		Changed time.Time `json:"changed"`
	}
)

// line writes a header, with the newline that ends it.
func (h header) line() ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("writing the header: %w", err)
	}
	return append(text, '\n'), nil
}

// parseFile takes a store apart without any key. It accepts only what line
// writes, byte for byte: two readings of one header cannot be.
func parseFile(data []byte) (h header, line, body []byte, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		if bytes.HasPrefix(data, []byte("toolcrib vault ")) {
			return h, nil, nil, damaged("it is of a version that this program does not know")
		}
		return h, nil, nil, damaged("it does not begin as one does; it was cut, or is another file")
	}
	end := bytes.IndexByte(rest[:min(len(rest), maxHeader)], '\n')
	if end < 0 {
		return h, nil, nil, damaged("its second line has no end")
	}
	line, body = rest[:end+1], rest[end+1:]
	if err := json.Unmarshal(line, &h); err != nil {
		return header{}, nil, nil, damaged("its second line cannot be read")
	}
	again, err := h.line()
	if err != nil {
		return header{}, nil, nil, err
	}
	if !bytes.Equal(again, line) || !isKeyID(h.Key) {
		return header{}, nil, nil, damaged("its second line was edited")
	}
	if len(body) == 0 {
		return header{}, nil, nil, damaged("it ends after its second line")
	}
	return h, line, body, nil
}

func isKeyID(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == 8 && hex.EncodeToString(raw) == id
}

// seal writes a store.
func seal(c *content, k *key) ([]byte, error) {
	line, err := header{Key: k.id, Wrapped: k.wrapped}.line()
	if err != nil {
		return nil, err
	}
	plain, err := c.encode()
	if err != nil {
		return nil, err
	}
	defer clear(plain)
	tag, err := k.tag(line, plain)
	if err != nil {
		return nil, err
	}
	whole := slices.Concat(tag, plain)
	defer clear(whole)
	body, err := encrypt(whole, k.recipient)
	if err != nil {
		return nil, err
	}
	data := slices.Concat([]byte(magic), line, body)
	if len(data) > maxFile {
		return nil, invalid("the store would have %d bytes; at most %d are kept", len(data), maxFile)
	}
	return data, nil
}

// unseal opens what parseFile took apart, with the key that the header names.
func unseal(line, body []byte, k *key) (*content, error) {
	whole, err := decrypt(body, k.identity)
	if err != nil {
		return nil, damaged("its key is the right one, but the content was cut or edited")
	}
	defer clear(whole)
	if len(whole) < sha256.Size {
		return nil, damaged("its content is too short")
	}
	want, err := k.tag(line, whole[sha256.Size:])
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(want, whole[:sha256.Size]) {
		return nil, damaged("it was not written by the holder of its key")
	}
	return parseContent(whole[sha256.Size:])
}

// bare reports whether a store has no entry, by the length of what is
// encrypted: age adds to it what does not depend on the key.
func bare(data []byte) bool {
	empty, err := (&content{}).encode()
	if err != nil {
		return false
	}
	_, _, body, err := parseFile(data)
	if err != nil {
		return false
	}
	_, rest, found := bytes.Cut(body, []byte("\n--- ")) // the last line of age's header
	_, payload, ended := bytes.Cut(rest, []byte("\n"))
	const nonce, tag = 16, 16
	return found && ended && len(payload) == nonce+sha256.Size+len(empty)+tag
}

func (c *content) encode() ([]byte, error) {
	w := writtenContent{Retired: c.retired, Secrets: make([]writtenEntry, 0, len(c.secrets))}
	for ref, e := range c.secrets {
		w.Secrets = append(w.Secrets, writtenEntry{ref, []byte(e.value), e.changed})
	}
	slices.SortFunc(w.Secrets, func(a, b writtenEntry) int { return compareRefs(a.Ref, b.Ref) })
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("writing the content: %w", err)
	}
	return text, nil
}

// parseContent reads what encode writes. Errors of the decoder are not passed
// on: they quote.
func parseContent(text []byte) (*content, error) {
	var w writtenContent
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil || d.InputOffset() != int64(len(text)) {
		return nil, damaged("its content is not of this version's form")
	}
	c := &content{secrets: make(map[Ref]entry, len(w.Secrets)), retired: w.Retired}
	for _, id := range w.Retired {
		if !isKeyID(id) {
			return nil, damaged("it remembers a key that cannot be one")
		}
	}
	for i, e := range w.Secrets {
		if e.check() != nil || checkValue(string(e.Value)) != nil {
			return nil, damaged("its entry %d is no secret that could have been set", i)
		}
		if _, twice := c.secrets[e.Ref]; twice {
			return nil, damaged("its entry %d is there twice", i)
		}
		c.secrets[e.Ref] = entry{string(e.Value), e.Changed}
		clear(e.Value)
	}
	return c, nil
}
