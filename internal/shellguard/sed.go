package shellguard

import "strings"

// checkSed proves that every script given to sed only prints, deletes and
// substitutes in what it prints.
func checkSed(u *usage) string {
	scripts := 0
	for _, o := range u.opts {
		if o.name == "e" || o.name == "expression" {
			scripts++
			if why := checkSedScript(o.value); why != "" {
				return why
			}
		}
	}
	if scripts > 0 {
		return ""
	}
	if len(u.operands) == 0 {
		return "it has no script"
	}
	if u.operands[0].Glob {
		return "its script is not quoted, so files of the directory take its place"
	}
	return checkSedScript(u.operands[0].Text)
}

// sedScript reads a script strictly: where seds differ in how they read one,
// it is refused.
type sedScript struct {
	s     string
	i     int
	depth int
}

func checkSedScript(script string) string {
	p := sedScript{s: script}
	for {
		p.skip(" \t;\n")
		if p.i == len(p.s) {
			if p.depth != 0 {
				return "its script has an open {"
			}
			return ""
		}
		if !p.command() {
			return "its script does more than print, delete and substitute, or is not understood"
		}
	}
}

func (p *sedScript) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *sedScript) skip(set string) {
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedScript) digits() bool {
	from := p.i
	p.skip("0123456789")
	return p.i > from
}

func (p *sedScript) command() bool {
	if !p.addresses() {
		return false
	}
	c := p.peek()
	p.i++
	switch c {
	case '{':
		p.depth++
		return true
	case '}':
		p.depth--
		return p.depth >= 0 && p.end()
	case 'p', 'P', 'd', 'D', 'n', 'N', 'h', 'H', 'g', 'G', 'x', '=', 'z':
		return p.end()
	case 'q', 'Q', 'l':
		p.skip(" ")
		p.digits()
		return p.end()
	case 's':
		return p.substitute()
	case 'y':
		delim := p.peek()
		return p.delimited(delim, false) && p.rest(delim) && p.end()
	}
	// Among them r R w W e F, which read, write and run; and a i c : b t, whose
	// text and labels seds end in different places.
	return false
}

// end: only a separator, a closing brace or nothing may follow a command.
func (p *sedScript) end() bool {
	p.skip(" \t")
	switch p.peek() {
	case 0:
		return p.i >= len(p.s)
	case ';', '\n', '}':
		return true
	}
	return false
}

func (p *sedScript) addresses() bool {
	from := p.i
	if !p.address() {
		return false
	}
	first := p.i > from
	p.skip(" \t")
	if p.peek() == ',' {
		if !first {
			return false
		}
		p.i++
		p.skip(" \t")
		if c := p.peek(); c == '+' || c == '~' {
			p.i++
			if !p.digits() {
				return false
			}
		} else if from := p.i; !p.address() || p.i == from {
			return false
		}
	}
	p.skip(" \t")
	if p.peek() == '!' {
		p.i++
		p.skip(" \t")
	}
	return true
}

// address reads one address, or none.
func (p *sedScript) address() bool {
	switch c := p.peek(); {
	case c >= '0' && c <= '9':
		p.digits()
		if p.peek() == '~' {
			p.i++
			return p.digits()
		}
	case c == '$':
		p.i++
	case c == '/':
		if !p.delimited('/', true) {
			return false
		}
		p.skip("I")
	case c == '\\':
		return false // \cREGEXc
	}
	return true
}

func (p *sedScript) substitute() bool {
	delim := p.peek()
	if !p.delimited(delim, true) || !p.rest(delim) {
		return false
	}
	p.skip("gpiIm0123456789") // not e, which runs, and w, which writes
	return p.end()
}

// delimited reads from one delimiter to just behind the next.
func (p *sedScript) delimited(delim byte, regex bool) bool {
	if p.peek() != delim || isNameByte(delim) || delim <= ' ' || delim >= 0x7f || strings.IndexByte("\\[]", delim) >= 0 {
		return false
	}
	p.i++
	from := p.i
	for ; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			p.i++
			if p.i == len(p.s) || p.s[p.i] == '\n' {
				return false
			}
		case '\n':
			return false
		case delim:
			text := p.s[from:p.i]
			p.i++
			return !regex || closedBrackets(text)
		}
	}
	return false
}

// rest reads the second part of s or y, up to the closing delimiter.
func (p *sedScript) rest(delim byte) bool {
	p.i-- // the delimiter between the parts opens the second
	return p.delimited(delim, false)
}

// closedBrackets: some seds let a delimiter stand in [ ], others end the
// expression there. If every bracket closes before the delimiter, both agree.
func closedBrackets(re string) bool {
	for i := 0; i < len(re); i++ {
		switch re[i] {
		case '\\':
			i++
		case '[':
			j := i + 1
			if j < len(re) && re[j] == '^' {
				j++
			}
			if j < len(re) && re[j] == ']' {
				j++
			}
			for ; j < len(re) && re[j] != ']'; j++ {
				if re[j] == '[' && j+1 < len(re) && strings.IndexByte(":.=", re[j+1]) >= 0 {
					end := strings.Index(re[j+2:], string(re[j+1])+"]")
					if end < 0 {
						return false
					}
					j += end + 3
				}
				if re[j] == '\\' {
					return false
				}
			}
			if j >= len(re) {
				return false
			}
			i = j
		}
	}
	return true
}
