package hooked

import (
	"context"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/clienthook"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/store"
)

// Early is what takes longest of opening a crib for a hook, which is started anew
// for each tool of a client: it is begun at once, beside the rest. Nil: nothing was.
type Early struct {
	Journal func() (*store.Journal, error)
	Scanner func() (*secrets.Scanner, error)
}

// Scanner begins to read the table of secrets.
func Scanner() func() (*secrets.Scanner, error) {
	scanner := sync.OnceValues(secrets.New)
	go func() { _, _ = scanner() }() // who needs it gets the error
	return scanner
}

// Begin begins to open the journal, and to read the table of secrets if nobody has.
func Begin(journal func() (*store.Journal, error), scanner func() (*secrets.Scanner, error)) *Early {
	e := &Early{Journal: sync.OnceValues(journal), Scanner: scanner}
	if scanner == nil {
		e.Scanner = Scanner()
	}
	go func() { _, _ = e.Journal() }()
	return e
}

// JournalOr gives the journal that was begun, or opens one.
func (e *Early) JournalOr(open func() (*store.Journal, error)) (*store.Journal, error) {
	if e == nil {
		return open()
	}
	return e.Journal()
}

// ScannerOr gives the scanner that was begun, or the other.
func (e *Early) ScannerOr(other func() (*secrets.Scanner, error)) func() (*secrets.Scanner, error) {
	if e == nil {
		return other
	}
	return e.Scanner
}

// Left gives the journal that has to be closed: the one in use, or the one that was
// begun and whose turn did not come any more. Nil: none has to.
func (e *Early) Left(used *store.Journal) *store.Journal {
	if used != nil || e == nil {
		return used
	}
	begun, err := e.Journal()
	if err != nil {
		return nil
	}
	return begun
}

// Checks is what the handles of a call are asked about.
type Checks = clienthook.Checks

// Shelve puts the tools of a client on the shelves of a crib, and no others. Own are
// the boxes of ours. Checks gets the addresses from the crib.
func Shelve(ctx context.Context, crib *toolcrib.Crib, e *clienthook.Event, own, disable []string, checks Checks) error {
	for i := range e.Deeds {
		// Rules about a box of ours would be about a server that has its name.
		if d := &e.Deeds[i]; d.Server && (d.Box == e.Client || slices.Contains(own, d.Box)) {
			d.Box = "mcp__" + d.Box
		}
	}
	if hosts := crib.Grant.Hosts; len(hosts) > 0 {
		checks.Address = func(url string) error {
			gate := httpclient.NewGate(hosts, crib.HTTP)
			defer gate.Close()
			return gate.Check(url)
		}
	}
	_, faults := crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: clienthook.Boxes(e, checks), Disable: disable})
	for i := range faults {
		if faults[i].Box != "" { // else a name of the settings, which is about tools that are not on these shelves
			return &faults[i]
		}
	}
	seen := crib.Visible
	crib.Visible = func(caller toolcrib.Caller, spec *toolcrib.Entry) bool {
		// What was done is written down, whatever a profile has.
		return spec.Box == e.Client && spec.Native == clienthook.Outcome || seen(caller, spec)
	}
	return nil
}
