package config

import (
	"reflect"
	"slices"
)

// Options says which layers there are. The zero value is the defaults alone.
type Options struct {
	System  string // the administrator's file; it may be missing, but must be root's and not be writable by others
	Owner   int    // whose the administrator's file must be; the zero value is root
	User    string // the user's file; it may be missing
	Project string // the project's file; it may be missing
	// Outer are further files of projects around it. They tighten, whether they are trusted or not.
	Outer []string
	// Passed is what was passed over in looking for it, as FindProject tells; it stands before all other warnings.
	Passed []Warning
	// Explicit is a file the user named on the command line. It stands in place of User and must exist.
	Explicit string
	// Trusted says whether the user has trusted the project's file with this content: it is then a layer like any other,
	// between the user's file and the environment. Nil, or false, lets it only tighten.
	Trusted func(content []byte) bool
	// PastProject: mistakes in a project's file that is not trusted are no error. What is understood of it counts, and
	// Loaded.Broken tells the rest.
	PastProject bool
	// Check says what is wrong with an element of a list, or an entry of a map, of a project's file that is not trusted,
	// beyond its form. Key is that of the list or map, with NAME for names in it; name that of the entry. Nil: nothing is.
	Check func(key, name string, value any) error
	// Seen is told what each project file holds. Nil: nobody is.
	Seen func(file string, content []byte)
	// Contents is what project files are taken to hold, in place of what they hold now, by their names.
	Contents map[string][]byte
	Environ  []string          // NAME=value, as os.Environ gives it
	Reserved []string          // TOOLCRIB_* variables that are no settings and yet known; TOOLCRIB_HOME always is
	Flags    map[string]string // dotted key → text
}

// Loaded is the result of all layers.
type Loaded[T any] struct {
	Value T
	// Origins says for every key where its value came from. There is a key for each single value and each list, one for
	// an empty map or an absent optional block, and one for each element that a project file added to a list.
	Origins  map[string]Origin
	Warnings []Warning
	// System, User and Project are what the layers say by themselves, over nothing: for settings of which a lower layer
	// must not take the place of a higher one. User has the user's file, a project file that was trusted, the environment
	// and the flags; Project a file that was not trusted.
	System, User, Project T
	Outer                 []T // likewise, the further files of projects
	// Untightened is Value as it would be without a project's file that was not trusted.
	Untightened T
	// Given is what the environment and the flags of this run say by themselves, over nothing, and GivenOrigins which of
	// them said it: for settings that nothing in a file may go beyond then. A flag stands over a variable.
	Given        T
	GivenOrigins map[string]Origin
	// Trusted: the project's file was taken as the user's own.
	Trusted bool
	// Broken is what is wrong with a project's file that was read all the same; nil: nothing.
	Broken error
}

// Load lays all layers over the defaults, which stay as they are. If anything is wrong with any layer it returns an error
// that joins one *Problem for each mistake, and no result: half of what the user asked for may be wider than all of it.
func Load[T any](defaults T, opt Options) (*Loaded[T], error) {
	root, err := newTree(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	loaded := &Loaded[T]{}
	reflect.ValueOf(&loaded.Value).Elem().Set(clone(root, reflect.ValueOf(&defaults).Elem()))
	of := func(v *T) reflect.Value { return reflect.ValueOf(v).Elem() }
	s := stack{root: root, value: of(&loaded.Value), system: of(&loaded.System), user: of(&loaded.User), project: of(&loaded.Project), untightened: of(&loaded.Untightened), given: of(&loaded.Given), givenBy: origins{}}
	loaded.Outer = make([]T, len(opt.Outer))
	for i := range loaded.Outer {
		s.outer = append(s.outer, of(&loaded.Outer[i]))
	}
	loaded.Origins, loaded.Warnings, err = s.load(opt)
	if err != nil {
		return nil, err
	}
	loaded.Trusted, loaded.GivenOrigins, loaded.Broken = s.trusted, s.givenBy, s.broken
	return loaded, nil
}

// stack is the values that the layers are laid upon.
type stack struct {
	root                         *field
	value, untightened           reflect.Value
	system, user, project, given reflect.Value
	outer                        []reflect.Value
	givenBy                      origins
	trusted                      bool
	broken                       error
}

// load applies the layers in their order.
func (s *stack) load(opt Options) (origins, []Warning, error) {
	root := s.root
	userFile, userRole := opt.User, fileRole{}
	if opt.Explicit != "" {
		userFile, userRole = opt.Explicit, fileRole{required: true, special: true}
	}
	system, systemProblems := filePatch(root, opt.System, SourceSystem, fileRole{trustworthy: true, owner: opt.Owner})
	user, userProblems := filePatch(root, userFile, SourceUser, userRole)
	project, projectProblems := s.projectPatch(opt, opt.Project, opt.Trusted)
	outer, outerProblems := make([]*patch, len(opt.Outer)), make([]*problems, len(opt.Outer))
	for i, file := range opt.Outer {
		outer[i], outerProblems[i] = s.projectPatch(opt, file, nil)
	}
	envProblems, flagProblems := &problems{}, &problems{}
	env, unknown := envPatches(root, opt.Environ, opt.Reserved, envProblems)
	warnings := slices.Concat(opt.Passed, unknown)
	flags := flagPatches(root, opt.Flags, flagProblems)
	env = withoutOwnAll(env, opt, envProblems, func(p *patch) string { return "environment variable " + p.f.env })
	flags = withoutOwnAll(flags, opt, flagProblems, func(*patch) string { return "a flag" })
	if opt.foreign() {
		user = withoutOwn(user, func(p *patch) {
			userProblems.add(p.at, p.key, "a file named on the command line cannot set it: %s", opt.ownOnly())
		})
	}
	own := func(file string, project *patch) *patch {
		return withoutOwn(project, func(p *patch) {
			warnings = append(warnings, Warning{File: file, Line: p.at.line, Column: p.at.column, Key: p.key,
				Message: "ignored: a project file cannot set it, trusted or not; " + opt.ownOnly()})
		})
	}
	project = own(opt.Project, project)
	for i, file := range opt.Outer {
		outer[i] = own(file, outer[i])
	}
	if opt.PastProject {
		past := outerProblems
		if outerProblems = nil; !s.trusted {
			past, projectProblems = append(past, projectProblems), &problems{}
		}
		s.broken = join(past...)
	}
	if err := join(append(outerProblems, systemProblems, userProblems, projectProblems, envProblems, flagProblems)...); err != nil {
		return nil, nil, err
	}

	layers := []*patch{user}
	if s.trusted {
		layers = append(layers, project)
	}
	layers = append(layers, env...)
	layers = append(layers, flags...)
	set := origins{}
	lay := func(layer *patch, alone reflect.Value) {
		if layer != nil {
			set.overlay(layer, s.value)
			origins{}.overlay(layer, alone)
		}
	}
	lay(system, s.system)
	for _, layer := range layers {
		lay(layer, s.user)
	}
	for _, layer := range slices.Concat(env, flags) {
		s.givenBy.overlay(layer, s.given)
	}
	s.untightened.Set(clone(root, s.value))
	// Last, so that it is held against what would hold without it, whichever layer that came from.
	tighten := func(file string, project *patch, alone reflect.Value) {
		if project == nil {
			return
		}
		origins{}.overlay(project, alone)
		t := tightener{origins: set, file: file}
		t.apply(project, s.value)
		warnings = append(warnings, t.warnings...)
	}
	if !s.trusted {
		tighten(opt.Project, project, s.project)
	}
	for i, file := range opt.Outer {
		tighten(file, outer[i], s.outer[i])
	}
	all := origins{}
	set.complete(all, root, s.value, "")
	return all, warnings, nil
}

// filePatch reads and decodes one file. An empty path is a layer that is not there.
func filePatch(root *field, path string, source Source, role fileRole) (*patch, *problems) {
	ps := &problems{file: path}
	if path == "" {
		return nil, ps
	}
	data := readFile(path, role, ps)
	if data == nil {
		return nil, ps
	}
	d := decoder{root: root, problems: ps, source: source}
	return d.file(data), ps
}

// projectPatch does so for a project's file. Trusted nil: it is not.
func (s *stack) projectPatch(opt Options, file string, trusts func(content []byte) bool) (*patch, *problems) {
	ps := &problems{file: file}
	if file == "" {
		return nil, ps
	}
	data, given := opt.Contents[file]
	if !given {
		data = readFile(file, projectRole(), ps)
	}
	if data == nil {
		return nil, ps
	}
	if opt.Seen != nil {
		opt.Seen(file, data)
	}
	d := decoder{root: s.root, problems: ps, source: SourceProject}
	if trusts != nil && trusts(data) { // the very bytes that are decoded
		s.trusted = true
	} else {
		d.past, d.check = opt.PastProject, opt.Check
	}
	return d.file(data), ps
}

// complete fills in an origin for every key of the result.
func (o origins) complete(all origins, f *field, v reflect.Value, key string) {
	switch f.kind {
	case kindBlock, kindOptional:
		if f.kind == kindOptional && v.IsNil() {
			all[key] = Origin{}
		}
		for member, value := range f.settings(v) {
			o.complete(all, member, value, joinKey(key, member.name))
		}
	case kindMap:
		if v.Len() == 0 {
			all[key] = Origin{}
		}
		for _, name := range entryNames(v) {
			entry, _ := entryOf(f, v, name)
			o.complete(all, f.elem, entry, joinKey(key, name))
		}
	case kindList:
		all[key] = o[key]
		for i := range v.Len() {
			if origin, ok := o[elementKey(key, i)]; ok {
				all[elementKey(key, i)] = origin
			}
		}
	default:
		all[key] = o[key]
	}
}
