package shellguard

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects judges where a command's input comes from and its output goes.
func (w *walker) redirects(list []*syntax.Redirect, sc scope) {
	for _, r := range list {
		out := Redirect{Op: r.Op.String(), Class: Unknown}
		if r.N != nil {
			out.Op = r.N.Value + out.Op
			// Plain shells know one digit; {name} is bash.
			if len(r.N.Value) != 1 {
				w.line.unknown("shells differ in what %s means", Quote(out.Op))
			}
		}
		var target Arg
		if r.Word != nil {
			target = w.word(r.Word, sc)
		}
		out.Target, out.target = target.Text, target
		for _, d := range sc.dirs {
			for _, t := range target.texts() {
				if device, ok := deviceIn(d, t); ok {
					out.devices = append(out.devices, device)
				}
			}
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			w.hereDocument(&out, r, sc)
		case syntax.WordHdoc:
			w.line.unusual("only bash knows <<<")
			out.Why = "only bash knows it"
		case syntax.RdrIn:
			w.input(&out, target, sc)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
			output(&out, target)
			if out.Class == Writes && target.Literal && target.Text != "" {
				for _, d := range sc.dirs {
					out.writes = append(out.writes, Path{Dir: d, Text: target.Text})
				}
			}
		case syntax.RdrInOut:
			out.Class, out.Why = Writes, "opens the file for writing too"
		case syntax.DplIn, syntax.DplOut:
			switch {
			case target.Literal && isDescriptor(target.Text):
				out.Class = ReadOnly
			case r.Op == syntax.DplOut:
				w.line.unknown("bash and a plain sh read >& with a file differently")
				out.Class, out.Why = Writes, "writes the file"
			default:
				out.Why = "copies a descriptor that is not literal"
			}
		default:
			w.line.unknown("only bash knows %s", r.Op)
			output(&out, target)
			if out.Class == ReadOnly {
				out.Class, out.Why = Unknown, "only bash knows it"
			}
		}
		w.line.Redirects = append(w.line.Redirects, out)
	}
	if len(w.line.Redirects) > maxPrograms {
		w.line.Redirects = w.line.Redirects[:maxPrograms]
		w.line.unknown("it has more than %d redirections", maxPrograms)
		w.tooMuch()
	}
}

func (w *walker) hereDocument(out *Redirect, r *syntax.Redirect, sc scope) {
	if r.Hdoc == nil {
		out.Class = ReadOnly
		return
	}
	for _, part := range r.Hdoc.Parts {
		if _, ok := part.(*syntax.Lit); ok {
			continue
		}
		out.Why = "its text has expansions"
		w.substitutionsIn(part, sc)
	}
	if out.Why == "" {
		out.Class = ReadOnly
	}
}

func (w *walker) input(out *Redirect, target Arg, sc scope) {
	switch {
	case !target.Literal:
		out.Why = "reads from a file whose name is not literal"
	case isSocket(target.Text):
		out.Class, out.Why = Network, "bash opens a connection for it"
	default:
		out.Class = ReadOnly
		if target.Text == "/dev/null" {
			return
		}
		for _, d := range sc.dirs {
			out.Paths = append(out.Paths, Path{Dir: d, Text: target.Text})
		}
	}
}

func output(out *Redirect, target Arg) {
	switch {
	case !target.Literal:
		out.Class, out.Why = Writes, "writes to a file whose name is not literal"
	case target.Text == "/dev/null":
		out.Class = ReadOnly
	case isSocket(target.Text):
		out.Class, out.Why = Network, "bash opens a connection for it"
	case isDevice(target.Text):
		out.Class, out.Why = Destroys, "writes to a device"
	default:
		out.Class, out.Why = Writes, "writes the file"
	}
}

func isDescriptor(s string) bool {
	return s == "-" || len(s) == 1 && s[0] >= '0' && s[0] <= '9'
}

// isSocket: names that bash does not open but connects to.
func isSocket(s string) bool {
	return strings.HasPrefix(s, "/dev/tcp/") || strings.HasPrefix(s, "/dev/udp/")
}

// deviceIn: a relative name leads to a device from a directory.
func deviceIn(dir, name string) (device string, ok bool) {
	if strings.HasPrefix(name, "/") || !strings.HasPrefix(dir, "/dev") && !strings.Contains(name, "..") {
		return "", false
	}
	device = path.Join(dir, name)
	return device, isDevice(device)
}

func isDevice(s string) bool {
	s = path.Clean(s)
	if !strings.HasPrefix(s, "/dev/") {
		return false
	}
	return !isOneOf(s, "/dev/null /dev/zero /dev/full /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/random /dev/urandom") && !strings.HasPrefix(s, "/dev/fd/") && !strings.HasPrefix(s, "/dev/shm/") && !strings.HasPrefix(s, "/dev/pts/")
}
