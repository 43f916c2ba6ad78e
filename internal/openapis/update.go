package openapis

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// Update takes up settings: documents that are new or set up in another way are opened, the
// others stay as they are. One that cannot be used is left out and told; the error is for a state
// that nothing can be kept in.
func (a *APIs) Update(ctx context.Context, cfg settings.Config) ([]toolcrib.LoadError, error) {
	if a == nil {
		return nil, nil
	}
	a.updating.Lock()
	defer a.updating.Unlock()
	if len(cfg.OpenAPI) > 0 && a.store.Root == nil {
		if err := a.keepIn(a.needs.State); err != nil {
			return nil, err
		}
	}
	var faults []toolcrib.LoadError
	var list []*API
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(cfg.OpenAPI)) {
		s := cfg.OpenAPI[name]
		if s.Disabled {
			continue
		}
		err := CheckName(name, cfg, a.needs.Own)
		if other, twice := seen[strings.ToLower(name)]; twice && err == nil {
			err = fmt.Errorf("it is called as %s but for the case of letters", other)
		}
		var api *API
		if err == nil {
			api, err = a.sameOrOpen(ctx, name, s)
		}
		if err != nil {
			faults = append(faults, toolcrib.LoadError{Box: name, Err: fmt.Errorf("openapi.%s: %w", name, err)})
			continue
		}
		seen[strings.ToLower(name)] = name
		list = append(list, api)
	}
	a.mu.Lock()
	a.list = list
	a.mu.Unlock()
	if a.needs.Follow && len(list) > 0 && a.stop == nil {
		a.follow()
	}
	return faults, nil
}

// sameOrOpen gives a document that is set up as before, or opens it.
func (a *APIs) sameOrOpen(ctx context.Context, name string, s settings.OpenAPI) (*API, error) {
	if was, ok := a.Get(name); ok && reflect.DeepEqual(was.settings, s) {
		return was, nil
	}
	now := a.needs.Now()
	if f, ok := a.failed[name]; ok && reflect.DeepEqual(f.settings, s) && now.Sub(f.at) < retryAfter {
		return nil, f.err
	}
	api, err := a.open(ctx, name, s)
	if err != nil {
		if from, bad := readSource(s.Document, a.needs.Config, a.needs.Home); bad == nil && from.url != nil {
			if a.failed == nil {
				a.failed = map[string]failure{}
			}
			a.failed[name] = failure{s, err, now}
		}
		return nil, err
	}
	api.Notify(a.tell) // for as long as it is there
	return api, nil
}

// failure is a document at an address that could not be opened. Every reload would wait for its
// server otherwise.
type failure struct {
	settings settings.OpenAPI
	err      error
	at       time.Time
}

const retryAfter = time.Minute

func (a *APIs) tell() { a.watchers.Each(func(changed func()) { changed() }) }

// Notify tells when the tools of a document are others.
func (a *APIs) Notify(changed func()) (stop func()) { return a.watchers.Add(changed) }

// Shelve adds the documents of now to what goes onto the shelves.
func (a *APIs) Shelve(s toolcrib.Contents) toolcrib.Contents {
	if a == nil {
		return s
	}
	qualify, yield := a.Names()
	s.Boxes = slices.Concat(s.Boxes, a.Boxes())
	s.Qualify, s.Yield = slices.Concat(s.Qualify, qualify), slices.Concat(s.Yield, yield)
	return s
}
