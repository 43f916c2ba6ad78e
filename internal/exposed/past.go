package exposed

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/learn"
	"github.com/toolcrib/toolcrib/toolbox/finder"
)

// Past gives the search what callers of a profile taught it. Nil: nothing is learned.
func Past(book *learn.Book, profileOf func(toolcrib.Caller) string, log *slog.Logger) func(toolcrib.Caller) (string, func() []finder.Use) {
	if book == nil {
		return nil
	}
	return func(caller toolcrib.Caller) (string, func() []finder.Use) {
		profile := profileOf(caller)
		version, err := book.Version()
		if err != nil && log != nil {
			log.Warn("searching without what was learned", "err", err)
		}
		return fmt.Sprintf("%d %s", version, profile), func() []finder.Use {
			var uses []finder.Use
			for _, p := range book.Of(profile) {
				box, native, _ := strings.Cut(p.Tool, "/")
				uses = append(uses, finder.Use{Query: p.Query, Box: box, Native: native, Times: p.Times})
			}
			return uses
		}
	}
}
