package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// pageSize is large, so that a list is whole for clients that read one page.
const pageSize = 1000

// listTTL is how long a client may go by a list without asking again, in
// milliseconds. It is short, since a tool that was taken away should be gone
// soon also for a client that does not listen; to ask again costs next to nothing.
const listTTL = 5_000

// pages writes a list as the results that clients get. There is always a first.
func (s *Server) pages(key string, items []json.RawMessage, modern bool) [][]byte {
	var out [][]byte
	for at := 0; at == 0 || at < len(items); at += pageSize {
		out = append(out, s.page(key, items, at, modern))
	}
	return out
}

func (s *Server) page(key string, items []json.RawMessage, at int, modern bool) []byte {
	var o object
	if modern {
		o.text("resultType", mcp.ResultComplete)
	}
	end := min(at+pageSize, len(items))
	size := 2
	for _, item := range items[at:end] {
		size += len(item) + 1
	}
	list := append(make([]byte, 0, size), '[')
	for i, item := range items[at:end] {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, item...)
	}
	o.raw(key, append(list, ']'))
	if end < len(items) {
		o.text("nextCursor", cursor(key, at/pageSize+1))
	}
	if modern {
		s.cacheable(&o, listTTL)
	}
	return o.end()
}

// cacheable says how long a result of the modern era is good, for this caller
// alone, and who gave it.
func (s *Server) cacheable(o *object, ttl int) {
	o.raw("ttlMs", strconv.AppendInt(nil, int64(ttl), 10))
	o.text("cacheScope", "private")
	var meta object
	meta.raw(mcp.MetaServer, s.info)
	o.raw("_meta", meta.end())
}

// A cursor says which page of which list comes next. It is nobody's business
// but ours, and no secret.
func cursor(key string, page int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(key + ":" + strconv.Itoa(page)))
}

func readCursor(key string, text json.RawMessage, pages int) (int, error) {
	if len(text) == 0 || string(text) == "null" {
		return 0, nil
	}
	bad := mcp.Errorf(mcp.CodeInvalidParams, "the cursor is none of ours, or the list has become shorter")
	s, ok := jsonText(text)
	if !ok {
		return 0, bad
	}
	plain, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return 0, bad
	}
	name, number, _ := strings.Cut(string(plain), ":")
	page, err := strconv.Atoi(number)
	if err != nil || name != key || page < 0 || page >= pages {
		return 0, bad
	}
	return page, nil
}

// listShelf lists what there is besides tools.
func (s *Server) listShelf(ctx context.Context, v *clientRequest, get func(context.Context, toolcrib.Caller) ([]Item, error), key string) (json.RawMessage, error) {
	items, err := get(ctx, s.callerOf(v))
	if err != nil {
		s.cfg.Log.Error("the shelf cannot be listed", "what", key, "err", err)
		return nil, mcp.Errorf(mcp.CodeInternal, "%s cannot be listed now", key)
	}
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.Definition), string(b.Definition)))
	})
	at, err := readCursor(key, v.params.Cursor, max(1, (len(items)+pageSize-1)/pageSize))
	if err != nil {
		return nil, err
	}
	texts := make([]json.RawMessage, len(items))
	for i := range items {
		texts[i] = items[i].Definition
	}
	return s.page(key, texts, at*pageSize, v.client.modern), nil
}
