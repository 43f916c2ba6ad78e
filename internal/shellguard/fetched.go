package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// noteWritten remembers what the line puts into files, so that it is known when
// one of them is run afterwards.
func (w *walker) noteWritten(s *syntax.Stmt, sc scope) {
	if w.written == nil || s.Cmd == nil {
		return
	}
	for _, r := range s.Redirs {
		if r.Op != syntax.RdrOut && r.Op != syntax.AppOut && r.Op != syntax.RdrClob && r.Op != syntax.RdrAll {
			continue
		}
		for _, target := range w.word(r.Word, sc).texts() {
			w.noteFill(target, s, sc)
		}
		w.nameTarget(r, sc)
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		call, ok := c.Y.Cmd.(*syntax.CallExpr)
		if c.Op != syntax.Pipe || !ok {
			return
		}
		args := w.started(call, sc)
		if len(args) < 2 {
			return
		}
		switch path.Base(args[0].Text) {
		case "tee", "sponge", "dd":
			for _, a := range args[1:] {
				for _, target := range a.texts() {
					w.noteFill(strings.TrimPrefix(target, "of="), c.X, sc)
				}
			}
		}
	case *syntax.CallExpr:
		args := w.started(c, sc)
		if len(args) == 0 || path.Base(args[0].Text) != "tee" && path.Base(args[0].Text) != "dd" {
			return
		}
		if text, ok := w.inputText(s.Redirs, sc); ok {
			for _, a := range args[1:] {
				w.noteText(strings.TrimPrefix(a.Text, "of="), text)
			}
		}
	}
}

// noteFill notes what a statement puts into a file: text that stands in the line,
// something from elsewhere, or nobody knows what.
func (w *walker) noteFill(target string, s *syntax.Stmt, sc scope) {
	text, ok := w.outputText(s, sc)
	switch {
	case ok:
		w.noteText(target, text)
	case w.fetches(s.Cmd) || sc.net || sc.derived || w.mentions(s, sc):
		w.fetched[fileKey(target)] = true
		w.noteSaved(target)
	case sc.piped && sc.input != nil:
		// Text of the line that goes through another program is hidden on purpose.
		w.fetched[fileKey(target)] = true
	default:
		w.unclear[fileKey(target)] = true
	}
}

// nameTarget notes the name of a file that is written.
func (w *walker) nameTarget(r *syntax.Redirect, sc scope) {
	if w.names != nil && len(w.names.words) < maxNames {
		w.names.words[fileKey(w.word(r.Word, sc).Text)] = true
	}
}

func (w *walker) noteText(file string, text Arg) {
	key := fileKey(file)
	if before := w.written[key]; before.Text != "" {
		all := before.value().with(text.value()).with(value{texts: []string{before.Text + text.Text}})
		text.values, text.open, text.Literal = all.texts, all.open, false
	}
	if len(w.written) >= maxNames {
		w.tooMuch()
		return
	}
	w.written[key] = text
}

// fetches reports whether something in a command gets text from elsewhere or
// decodes it.
func (w *walker) fetches(c syntax.Command) bool {
	found := false
	syntax.Walk(c, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for _, word := range call.Args {
				found = found || makesCode(path.Base(word.Lit())) || isStore(path.Base(word.Lit()))
			}
		}
		return !found && w.work.spend(1)
	})
	return found
}

// runsFetched notes the files that a program gets from the network, and says
// whether it runs one of them.
func (w *walker) runsFetched(p *Program, name string) bool {
	if w.fetched == nil {
		return false
	}
	for _, f := range p.fetchedFiles(name) {
		w.fetched[fileKey(f)] = true
	}
	if makesCode(name) {
		w.fetched[anyFetched] = true
	}
	switch name {
	case "tar", "bsdtar", "gtar", "unzip", "7z", "7za", "cpio", "unar", "pax", "gunzip", "unxz", "zstd", "uncompress":
		w.noteUnpacked(p, anyUnpacked)
	case "patch":
		w.noteUnpacked(p, anyPatched)
	case "git":
		if p.word("apply", "am") {
			w.noteUnpacked(p, anyPatched)
		}
	}
	for _, d := range p.fetchedDirs(name) {
		w.fetched[fetchedInto+d] = true
	}
	runs := definitions(name, p.Args)
	if run := p.runsFile(name); run != "" && !slices.Contains(runs, run) {
		runs = append(runs, run)
	}
	if name == "mv" || name == "cp" || name == "ln" || name == "install" || name == "tee" {
		for _, a := range p.Args {
			if last := p.Args[len(p.Args)-1].Text; w.fetched[fileKey(a.Text)] {
				w.fetched[fileKey(last)] = true
			} else if text, ok := w.written[fileKey(a.Text)]; ok {
				w.noteText(last, text)
			}
		}
	}
	if name == "node" || name == "nodejs" || name == "bun" || name == "deno" {
		for _, run := range slices.Clone(runs) { // which they add
			runs = append(runs, run+".js", run+".mjs", run+".cjs", run+".ts")
		}
	}
	return slices.ContainsFunc(runs, func(run string) bool { return w.runsOne(p, name, run) })
}

// noteUnpacked notes that files are made of what came from elsewhere, with names that do
// not stand in the line.
func (w *walker) noteUnpacked(p *Program, as string) {
	if p.piped && w.fetched[anyFetched] || slices.ContainsFunc(p.Args, func(a Arg) bool { return w.fetched[fileKey(a.Text)] }) || p.from != "" && w.fetched[fileKey(p.from)] {
		w.fetched[as] = true
	}
}

// runsOne looks at a file that a program runs, where the line made it.
func (w *walker) runsOne(p *Program, name, run string) bool {
	if text, ok := w.written[fileKey(run)]; ok && text.Text != "" {
		in := scope{dirs: p.Dirs, via: append(slices.Clip(p.Via), Quote(p.Name)), dynamic: true, depth: len(p.Via) + 1}
		if isShell(name) || name == "." || name == "source" || strings.Contains(p.Name, "/") {
			for _, t := range text.texts() {
				w.maybeScript(t, in)
			}
		}
		for _, t := range text.texts() {
			if in.depth > maxWrapping {
				w.tooMuch()
				break
			}
			w.embedded(t, in)
			switch name {
			case "make", "gmake", "just", "task", "go-task", "rake", "npm", "yarn", "pnpm", "bun":
				w.recipes(t, in)
			case "at", "batch", "crontab":
				w.commandsAnywhere(t, in)
			}
		}
	}
	w.line.hides = w.line.hides || w.unclear[fileKey(run)]
	for dir := path.Dir(path.Clean(run)); dir != "." && dir != "/" && dir != ".."; dir = path.Dir(dir) {
		if w.fetched[fetchedInto+dir] {
			return true
		}
	}
	if w.fetched[anyPatched] && !strings.HasPrefix(run, "/") && !(name == "go" && p.word("build", "vet", "list", "mod", "get")) {
		return true
	}
	return w.fetched[fileKey(run)] || w.fetched[anyUnpacked] && !strings.HasPrefix(run, "/")
}

// Keys of walker.fetched that no file has: something was got from elsewhere, and
// such a thing was unpacked, or put into the files as a patch, so that every file
// may be from there.
const anyFetched, anyUnpacked, anyPatched = "\x00fetched", "\x00unpacked", "\x00patched"

// fetchedInto stands before a directory that was filled from elsewhere.
const fetchedInto = "\x00into "

// descriptors: what a shell has open beside its input, which the line filled
// elsewhere.
const descriptors = "/dev/fd/"

// recipes looks at the commands of a Makefile.
func (w *walker) recipes(text string, sc scope) {
	for _, m := range makeShell.Regexp().FindAllStringSubmatch(text, maxValues) {
		w.maybeScript(m[1], sc)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if _, after, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "\t") {
			line = after
		}
		for _, cut := range []string{line, strings.ReplaceAll(line, ";", "\n")} {
			for recipe := range strings.SplitSeq(cut, "\n") {
				w.maybeScript(strings.TrimLeft(recipe, "\t ;@-+"), sc)
			}
		}
	}
}

// readsFetched: a shell reads what the line got from elsewhere on its input, or
// a program prints it where code is wanted.
func (w *walker) readsFetched(p *Program, name string, sc scope) bool {
	if w.fetched == nil {
		return false
	}
	if readsCode(name) && !p.hasScript() && (w.fetched[fileKey(sc.from)] || isSocket(sc.from) || strings.HasPrefix(sc.from, descriptors)) {
		return true
	}
	if slices.Contains(p.Via, "a substitution") && (name == "cat" || name == "head" || name == "tail") {
		p.prints = len(p.Args) == 0 && sc.piped || slices.ContainsFunc(p.Args, func(a Arg) bool { return w.fetched[fileKey(a.texts()[0])] })
	}
	return false
}
