package config

import "os"

// withoutOwn takes out of a layer what only the user's and the administrator's own files set, and tells refuse of each.
// What decides how long evidence is kept must not be in the hand of whoever starts the program.
func withoutOwn(p *patch, refuse func(*patch)) *patch {
	if p == nil {
		return nil
	}
	if p.f.own {
		refuse(p)
		return nil
	}
	kept := *p
	kept.parts = nil
	for _, part := range p.parts {
		if part := withoutOwn(part, refuse); part != nil {
			kept.parts = append(kept.parts, part)
		}
	}
	return &kept
}

// withoutOwnAll does so for several layers; what names each in the message.
func withoutOwnAll(layers []*patch, opt Options, ps *problems, what func(*patch) string) []*patch {
	var kept []*patch
	for _, layer := range layers {
		layer = withoutOwn(layer, func(p *patch) {
			ps.add(p.at, p.key, "%s cannot set it: %s", what(p), opt.ownOnly())
		})
		if layer != nil {
			kept = append(kept, layer)
		}
	}
	return kept
}

// ownOnly says where such a setting belongs.
func (o Options) ownOnly() string {
	text := "it takes effect only in your own settings file"
	if o.User != "" {
		text += ", " + printable(o.User)
	}
	if o.System != "" {
		text += ", or in the system's, " + printable(o.System)
	}
	return text
}

// foreign reports whether the file named on the command line is another one than the user's own.
func (o Options) foreign() bool {
	if o.Explicit == "" || o.Explicit == o.User {
		return false
	}
	a, errA := os.Stat(o.Explicit)
	b, errB := os.Stat(o.User)
	return errA != nil || errB != nil || !os.SameFile(a, b)
}
