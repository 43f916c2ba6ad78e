package openapis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

// pins are the operations that a person, or the first sight of them, has approved. Their texts
// lie in a file of their own: they are long, and wanted only when something has changed.
type pins struct {
	Seen bool `json:"seen,omitempty"`
	// Document is the last one that was approved as a whole: what filters leave of it is the
	// person's own choice.
	Document string            `json:"document,omitempty"`
	Tools    map[string]string `json:"tools"` // fingerprints
}

// doubtful is why operations are held back whose pins cannot be believed.
const doubtful = "what was approved of this document was changed, removed or put back by somebody else, so it has to be approved again"

// take puts a box up: what is approved of it, and what is held back.
func (api *API) take(box *openapi.Box, quick bool) error {
	held, err := api.sort(box)
	if err != nil {
		return err
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	api.box, api.held, api.quick = box, held, quick
	return nil
}

// pinned reports whether operations are held against pins: what stands in the settings is a
// person's own.
func (api *API) pinned() bool { return api.settings.Pins != "off" && api.source.inline == "" }

// sort finds what is held back. What is seen first is approved, but for what nobody sees whole.
func (api *API) sort(box *openapi.Box) (held []pinned.Held, err error) {
	if !api.pinned() {
		return nil, nil
	}
	var p pins
	_, doubt := api.apis.store.Load("pins-"+api.name, &p)
	if doubt != nil {
		p = pins{Seen: true}
	}
	first := !p.Seen && api.settings.Pins != "approve"
	whole := first || p.Document == api.sum && doubt == nil
	changed := false
	for _, o := range box.Operations() {
		was, known := p.Tools[o.Tool]
		if known && was == o.Sum {
			continue
		}
		why := "it is new since the document was approved"
		switch {
		case doubt != nil:
			why = doubtful
		case whole:
			unseen, err := pinned.Unseen(box.Definition(o.Tool))
			if err != nil {
				unseen = err.Error()
			}
			if why = unseen; unseen == "" {
				if p.Tools == nil {
					p.Tools = map[string]string{}
				}
				p.Tools[o.Tool], changed = o.Sum, true
				continue
			}
		case known:
			why = "it is another than the one that was approved"
		case !p.Seen:
			why = "nobody has approved it yet"
		}
		held = append(held, pinned.Held{Tool: o.Tool, Why: why, Hash: o.Sum})
	}
	if len(held) > 0 {
		before := api.texts()
		for i := range held {
			held[i].Is, held[i].Was = box.Definition(held[i].Tool), before[held[i].Tool]
		}
	}
	if changed && doubt == nil {
		if p.Seen = true; first {
			p.Document = api.sum
		}
		err = api.savePins(box, p)
	}
	return held, err
}

// texts are the definitions that were approved.
func (api *API) texts() map[string]json.RawMessage {
	var before map[string]json.RawMessage
	if _, err := api.apis.store.Load("was-"+api.name, &before); err != nil {
		return nil // they are only shown
	}
	return before
}

// savePins keeps the pins, and the texts of what they approve.
func (api *API) savePins(box *openapi.Box, p pins) error {
	texts := map[string]json.RawMessage{}
	maps.Copy(texts, api.texts())
	for _, o := range box.Operations() {
		if p.Tools[o.Tool] == o.Sum {
			texts[o.Tool] = box.Definition(o.Tool)
		}
	}
	maps.DeleteFunc(texts, func(tool string, _ json.RawMessage) bool { return p.Tools[tool] == "" })
	// First the texts: pins without them show less, the other way round nothing is lost.
	if err := api.apis.store.Save("was-"+api.name, texts); err != nil {
		api.apis.needs.Log.Debug("what was approved of an OpenAPI document is not kept as text", "api", api.name, "err", err)
	}
	return api.apis.store.Save("pins-"+api.name, p)
}

// Held is what waits for a person.
func (api *API) Held() []pinned.Held {
	api.mu.Lock()
	defer api.mu.Unlock()
	return slices.Clone(api.held)
}

// Gone is what was approved and the document does not have any more.
func (api *API) Gone() []string {
	if !api.pinned() {
		return nil
	}
	var p pins
	if _, err := api.apis.store.Load("pins-"+api.name, &p); err != nil || p.Document == api.sum {
		return nil // then it is a filter that leaves it out
	}
	there := map[string]bool{}
	for _, o := range api.Box().Operations() {
		there[o.Tool] = true
	}
	var out []string
	for _, tool := range slices.Sorted(maps.Keys(p.Tools)) {
		if !there[tool] {
			out = append(out, tool)
		}
	}
	return out
}

// Approve pins operations that a person has seen: exactly these. It gives those that it did.
func (api *API) Approve(held []pinned.Held) ([]string, error) {
	if api.apis.needs.ReadOnly {
		return nil, errors.New("documents are only looked at here")
	}
	var p pins
	if _, err := api.apis.store.Load("pins-"+api.name, &p); err != nil {
		p = pins{} // nothing of them can be believed: what is approved now is all there is
	}
	if p.Tools == nil {
		p.Tools = map[string]string{}
	}
	box := api.Box()
	sums := map[string]string{}
	for _, o := range box.Operations() {
		sums[o.Tool] = o.Sum
	}
	var done []string
	var errs []error
	for _, h := range held {
		if sum := sums[h.Tool]; sum == "" || sum != h.Hash {
			errs = append(errs, fmt.Errorf("%s of %s is not approved: it has changed again", h.Tool, api.name))
			continue
		}
		p.Tools[h.Tool] = h.Hash
		done = append(done, h.Tool)
	}
	p.Seen = true
	whole := true
	for tool, sum := range sums {
		whole = whole && p.Tools[tool] == sum
	}
	if whole {
		p.Document = api.sum
		maps.DeleteFunc(p.Tools, func(tool, _ string) bool { return sums[tool] == "" })
	}
	if err := api.savePins(box, p); err != nil {
		return nil, errors.Join(append(errs, err)...)
	}
	return done, errors.Join(append(errs, api.take(box, api.Quick()))...)
}

// Refresh asks for the document again and takes up what has changed. False: it is the same.
func (api *API) Refresh(ctx context.Context) (bool, error) {
	if api.source.url == nil {
		return false, nil // it is read at each start
	}
	content, err := api.refresh(ctx)
	if err != nil || content == nil {
		return false, err
	}
	api.sum = sumOf(content)
	if err := api.use(ctx, content); err != nil {
		return false, err
	}
	api.stamp = api.marks()
	api.tell()
	return true, nil
}

func (api *API) tell() { api.watchers.Each(func(changed func()) { changed() }) }

// followEvery is how often it is looked what another process has approved or fetched.
const followEvery = 2 * time.Second

// marks tells whether what is kept of the document is other now.
func (api *API) marks() string {
	if api.apis.store.Root == nil {
		return ""
	}
	var b strings.Builder
	for _, kind := range []string{"pins-", "meta-"} {
		if info, err := api.apis.store.Root.Stat(kind + api.name + ".json"); err == nil {
			fmt.Fprint(&b, info.Size(), info.ModTime().UnixNano(), ";")
		}
	}
	return b.String()
}

// follow looks after documents while the program runs.
func (a *APIs) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop, a.ended = cancel, make(chan struct{})
	go func() {
		defer close(a.ended)
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		tried := map[string]time.Time{}
		for {
			for _, api := range a.List() {
				api.follow(ctx, tried)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
}

const (
	freshFor   = 24 * time.Hour
	againAfter = time.Hour // that a document could not be fetched
)

// follow takes up what others did, and fetches a document that is old.
func (api *API) follow(ctx context.Context, tried map[string]time.Time) {
	log := api.apis.needs.Log
	if is := api.marks(); is != api.stamp {
		api.stamp = is
		content, err := api.find(ctx)
		if err == nil {
			err = api.use(ctx, content)
		}
		if err != nil {
			log.Warn("what was kept of an OpenAPI document cannot be used; what was there before stays", "api", api.name, "err", err)
			return
		}
		api.tell()
	}
	now := api.apis.needs.Now()
	lasts := api.settings.Refresh
	if lasts == 0 {
		lasts = freshFor
	}
	if api.source.url == nil || now.Sub(api.known.At) < lasts || now.Sub(tried[api.name]) < againAfter {
		return
	}
	tried[api.name] = now
	changed, err := api.Refresh(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn("an OpenAPI document could not be fetched again; the one that is kept is used", "api", api.name, "err", err)
	case changed && len(api.Held()) > 0:
		log.Warn("an OpenAPI document has changed, and operations are kept back", "api", api.name, "operations", len(api.Held()), "see", "toolcrib openapi diff "+api.name)
	}
}
