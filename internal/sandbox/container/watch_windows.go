package container

// watchEnd does nothing here: a container whose Toolcrib was killed is removed by
// the next one that is opened.
func (s *Sandbox) watchEnd(spec) (ended func(gone bool), err error) { return func(bool) {}, nil }

// unwatched: it is never otherwise here, and documented.
func (s *Sandbox) unwatched() []string { return nil }
