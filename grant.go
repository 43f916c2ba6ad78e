package toolcrib

import (
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/meet"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Grant is what one call may touch. The zero Grant is nothing at all. Guards
// narrow it by [Grant.Meet]; there is no operation that widens one.
type Grant struct {
	Dirs []files.Dir `json:"dirs,omitempty"`
	// Hosts is names, *.suffix, or * for any, and addresses and ranges such as
	// 10.0.0.0/8. A name gives the public addresses it leads to. A private
	// address, see [httpclient.New], is given only by an entry that holds it, for itself
	// and for every granted name that leads to it. The name localhost has to be
	// granted by itself and gives loopback.
	Hosts    []string `json:"hosts,omitempty"`
	Programs []string `json:"programs,omitempty"` // absolute paths, or * for any
	Secrets  []string `json:"secrets,omitempty"`  // names, or * for any
	// Denied are places in Dirs that stay out of reach, Fixed such that can only
	// be read: patterns from the top of the file system on, in which * and ? stay
	// within a name and ** is any number of directories. Each means what lies
	// below it too, in every letter case.
	Denied []string `json:"denied,omitempty"`
	Fixed  []string `json:"fixed,omitempty"`
	// Unmade are places, written in the same way, in which programs make nothing
	// either: what one on the live files has made there all the same, a person is told.
	Unmade []string `json:"unmade,omitempty"`
	// Time is the longest the tool may run; zero leaves the crib's limit.
	Time time.Duration `json:"time,omitempty"`
	// Bounds is what a sandbox has to enforce for this call.
	Bounds Bounds `json:"bounds,omitempty"`
}

// Meet is the most that both grants allow: the inner of two directories, the
// narrower of two patterns, the smaller time, both sets of bounds, and neither
// what the one nor what the other denies.
func (g Grant) Meet(h Grant) Grant {
	m := Grant{Time: meet.Times(g.Time, h.Time), Bounds: g.Bounds | h.Bounds}
	for _, a := range g.Dirs {
		for _, b := range h.Dirs {
			if d, ok := a.Meet(b); ok {
				m.Dirs = append(m.Dirs, d)
			}
		}
	}
	m.Dirs = files.Outermost(m.Dirs)
	m.Hosts = httpclient.MeetHosts(g.Hosts, h.Hosts)
	m.Programs = meet.Names(g.Programs, h.Programs, meet.Word)
	m.Secrets = meet.Names(g.Secrets, h.Secrets, meet.Word)
	m.Denied, m.Fixed, m.Unmade = meet.Both(g.Denied, h.Denied), meet.Both(g.Fixed, h.Fixed), meet.Both(g.Unmade, h.Unmade)
	return m
}

// within is what is left of a grant for who only has these effects.
func (g Grant) within(effects Effects) Grant {
	if effects&(Writes|Destroys) == 0 {
		g.Dirs = slices.Clone(g.Dirs)
		for i := range g.Dirs {
			g.Dirs[i].Write = false
		}
	}
	if effects&Network == 0 {
		g.Hosts = nil
	}
	return g
}

// keeps tells whether places of the grant that cannot be written hold a path. What
// cannot be understood does.
func (g Grant) keeps(path string) bool {
	set, err := pathglob.NewSet(slices.Concat(g.Denied, g.Fixed, g.Unmade))
	return err != nil || set.Has(pathglob.Elements(path))
}

// reachable leaves out directories that are denied as a whole, and makes those
// read-only that can only be read. What cannot be understood leaves none.
func (g Grant) reachable() Grant {
	denied, err := pathglob.NewSet(g.Denied)
	fixed, ferr := pathglob.NewSet(g.Fixed)
	if err != nil || ferr != nil {
		g.Dirs = nil
		return g
	}
	g.Dirs = slices.Clone(g.Dirs)
	g.Dirs = slices.DeleteFunc(g.Dirs, func(d files.Dir) bool { return denied.Has(pathglob.Elements(d.Path)) })
	for i := range g.Dirs {
		g.Dirs[i].Write = g.Dirs[i].Write && !fixed.Has(pathglob.Elements(g.Dirs[i].Path))
	}
	return g
}
