// Package seatbelt runs programs under the sandbox of macOS. It makes a profile of a
// grant and of what is protected, and has sandbox-exec hold the program to it. It was
// written by the documentation and has not yet been tried on a Mac: it is used only
// where a person names it. The joint in internal/sandboxes imports it.
package seatbelt

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Plan is what a profile is made from. The zero value lets a program read the
// system and nothing else.
type Plan struct {
	Dirs    []files.Dir
	Covers  []sandbox.Cover
	Denied  []string // patterns as in a grant: neither read nor written
	Fixed   []string // only read
	Network bool     // any address; otherwise none
}

// Profile writes a profile. The last rule that fits counts, so everything that is
// given stands before everything that is denied.
func Profile(p Plan) (string, error) {
	given, err := p.given()
	if err != nil {
		return "", err
	}
	hidden, fixed, err := p.denials()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(head)
	b.WriteString(given)
	if p.Network {
		b.WriteString(network)
	}
	rule(&b, "deny file-write*", fixed)
	rule(&b, "deny file-read* file-write*", hidden)
	return b.String(), nil
}

// given are the granted directories, the outer ones first: the innermost counts.
func (p Plan) given() (string, error) {
	dirs := slices.Clone(p.Dirs)
	slices.SortStableFunc(dirs, func(a, b files.Dir) int {
		return cmp.Compare(len(pathglob.Elements(Real(a.Path))), len(pathglob.Elements(Real(b.Path))))
	})
	var b strings.Builder
	for i, d := range dirs {
		if !path.IsAbs(d.Path) || path.Clean(d.Path) != d.Path {
			return "", fmt.Errorf("the granted directory %q is not an absolute and clean path", d.Path)
		}
		if d.Path == "/" {
			return "", errors.New("the whole disk cannot be granted in this sandbox")
		}
		text, err := quoted(Real(d.Path))
		if err != nil {
			return "", err
		}
		what := "allow file-read*"
		if d.Write {
			what += " file-write*"
		}
		rule(&b, what, []string{"(subpath " + text + ")"})
		around := func(o files.Dir) bool {
			return o.Write && pathglob.NamesOf("darwin").Inside(Real(d.Path), Real(o.Path))
		}
		if !d.Write && slices.ContainsFunc(dirs[:i], around) {
			re, err := below(Real(d.Path))
			if err != nil {
				return "", err
			}
			rule(&b, "deny file-write*", []string{re})
		}
	}
	return b.String(), nil
}

// head is what every program needs: the system to read, itself to start, and devices
// that hold nothing. No service of the system is given, so neither the keychain nor
// what starts other programs is to be had.
const head = `(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read*
  (literal "/")
  (subpath "/System")
  (subpath "/usr")
  (subpath "/bin")
  (subpath "/sbin")
  (subpath "/Library/Apple")
  (subpath "/Library/Developer")
  (subpath "/opt/homebrew")
  (subpath "/private/etc")
  (subpath "/private/var/db/timezone")
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/random")
  (literal "/dev/urandom"))
(allow file-write*
  (literal "/dev/null")
  (literal "/dev/zero"))
`

const network = `(allow network*)
(allow system-socket)
(allow file-read* (literal "/private/var/run/mDNSResponder"))
`

func rule(b *strings.Builder, what string, of []string) {
	if len(of) == 0 {
		return
	}
	b.WriteString("(" + what)
	for _, o := range of {
		b.WriteString("\n  " + o)
	}
	b.WriteString(")\n")
}

// denials are what is hidden and what is only read, as filters.
func (p Plan) denials() (hidden, fixed []string, err error) {
	for _, c := range p.Covers {
		re, err := below(Real(c.Path))
		if err != nil {
			return nil, nil, err
		}
		if c.Kind == sandbox.Hide {
			hidden = append(hidden, re)
		} else {
			fixed = append(fixed, re) // what must not be moved away is not written either
		}
	}
	for _, list := range []struct {
		patterns []string
		to       *[]string
	}{{p.Denied, &hidden}, {p.Fixed, &fixed}} {
		for _, text := range list.patterns {
			if !strings.HasPrefix(text, "/") {
				return nil, nil, fmt.Errorf("the pattern %q does not begin at the top of the file system", text)
			}
			g, err := pathglob.Parse(text)
			if err != nil {
				return nil, nil, fmt.Errorf("the pattern %q: %w", text, err)
			}
			re, err := meaning(g)
			if err != nil {
				return nil, nil, err
			}
			*list.to = append(*list.to, re)
		}
	}
	return hidden, fixed, nil
}

// Real is a path as the kernel of macOS knows it: three directories at the top are
// links.
func Real(name string) string {
	for _, top := range []string{"/tmp", "/var", "/etc"} {
		if rest, in := pathglob.NamesOf("darwin").Below(name, top); in {
			return path.Join("/private"+top, rest)
		}
	}
	return name
}

// quoted writes a text as a profile does. What a reader could take for something
// else is refused.
func quoted(s string) (string, error) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
	}) {
		return "", fmt.Errorf("the path %q has characters that no profile may have", s)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`, nil
}
