package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// What one list may have: a server that never ends must end here.
const (
	mostPages = 1000
	mostItems = 50_000
)

// List goes through all pages of a list (method tools/list, key "tools") and
// gives each its items, as they are. The result is how long the server says
// that the list is good for; negative: it says nothing. All pages together may
// have as many bytes as one message.
func (s *Session) List(ctx context.Context, method, key string, each func(item json.RawMessage) error) (time.Duration, error) {
	good := time.Duration(-1)
	items, size, cursor := 0, 0, json.RawMessage(nil)
	for range mostPages {
		var params json.RawMessage
		if cursor != nil {
			params = fmt.Appendf(nil, `{"cursor":%s}`, cursor)
		}
		result, err := s.Do(ctx, Call{Method: method, Params: params})
		if err != nil {
			return good, err
		}
		var page map[string]json.RawMessage
		if err := json.Unmarshal(result, &page); err != nil {
			return good, fmt.Errorf("reading the answer to %s: %w", method, err)
		}
		var list []json.RawMessage
		if text := page[key]; text != nil {
			if err := json.Unmarshal(text, &list); err != nil {
				return good, fmt.Errorf("reading the answer to %s: %w", method, err)
			}
		}
		if items += len(list); items > mostItems {
			return good, fmt.Errorf("%s has more than %d items, which is the most that is taken of one server", method, mostItems)
		}
		if size += len(result); size > s.config.Most {
			return good, fmt.Errorf("%s has more than %d bytes, which is the most that is taken of one server", method, s.config.Most)
		}
		for _, item := range list {
			if err := each(item); err != nil {
				return good, err
			}
		}
		good = shorterTTL(good, page["ttlMs"])
		next := page["nextCursor"]
		if len(next) == 0 || next[0] != '"' || string(next) == `""` {
			return good, nil
		}
		if string(next) == string(cursor) {
			return good, fmt.Errorf("%s gives the same page again and again", method)
		}
		cursor = next
	}
	return good, fmt.Errorf("%s has more than %d pages", method, mostPages)
}

// shorterTTL is the shorter of two times that something is good for.
func shorterTTL(good time.Duration, text json.RawMessage) time.Duration {
	var ms float64
	if text == nil || json.Unmarshal(text, &ms) != nil || ms < 0 {
		return good
	}
	const longest = 365 * 24 * time.Hour
	given := longest
	if ms < float64(longest/time.Millisecond) {
		given = time.Duration(ms) * time.Millisecond
	}
	if good < 0 || given < good {
		return given
	}
	return good
}
