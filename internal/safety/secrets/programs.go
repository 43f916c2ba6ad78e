package secrets

import "strings"

// programFlags are programs that are told a password behind a flag that others
// use for something else.
func programFlags() map[string]string {
	return map[string]string{
		"redis-cli ": " -a ", "schtasks ": " /rp ", "plink ": " -pw ", "pscp ": " -pw ", "plink.exe ": " -pw ", "psftp ": " -pw ", "winrs ": " -p:", "openssl ": " pass:", "ldapsearch ": " -w ", "ldapadd ": " -w ", "ldapmodify ": " -w ",
		"ipmitool ": " -P ", "freerdp ": " /p:", "rdesktop ": " -p ", "mysqladmin ": " password ", "smbclient ": "%", "lftp ": ",", "rabbitmqctl add_user ": " ", "rabbitmqctl change_password ": " ",
	}
}

const programReach = 256 // so much of a command line is looked at

// program looks at the password that a program is told, whose name ends here.
func (h *textScan) program(end int, flag string) {
	t := h.text
	at := end - 1 // the blank behind the name
	line := lineWithin(t, at, programReach)
	from := 0
	switch flag {
	case "%", ",": // the password is joined to the name of the user
		if from = strings.Index(line, " -U "); flag == "," {
			from = strings.Index(line, " -u ")
		}
		if from < 0 {
			return
		}
		from += len(" -U ")
		word := line[from:]
		if n := strings.IndexByte(word, ' '); n >= 0 {
			word = word[:n]
		}
		n := strings.Index(word, flag)
		if n < 0 {
			return
		}
		from += n + 1
	case " ": // the second word
		if from = strings.IndexByte(line[1:], ' ') + 2; from < 2 {
			return
		}
	default:
		n := strings.Index(line, flag)
		if n < 0 {
			return
		}
		from = n + len(flag)
	}
	v := h.valueAt(skipBlanks(t, at+from), opSpace, true)
	if text := t[v.from:v.to]; len(text) >= 3 && text[0] != '-' && text[0] != '/' && text[0] != '|' && !h.placeholder(text) && !fileLike(text) && !typeName(strings.ToLower(text)) {
		h.add(v.from, v.to, ruleCommand)
	}
}

// lineWithin gives the rest of a line, but no more than so many bytes of it.
func lineWithin(t string, at, most int) string {
	line := t[at:min(len(t), at+most)]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	return line
}

// piped looks at the text that echo hands to sudo as the password.
func (h *textScan) piped(begin int) {
	t := h.text
	line := t[max(0, begin-programReach):begin]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	n := strings.LastIndex(line, "echo ")
	if n < 0 {
		return
	}
	v := h.valueAt(skipBlanks(t, begin-len(line)+n+len("echo ")), opSpace, true)
	if text := t[v.from:v.to]; v.to <= begin && len(text) >= 3 && text[0] != '-' && !h.placeholder(text) {
		h.add(v.from, v.to, ruleCommand)
	}
}

// source looks at user:password@tcp(place), as drivers for MySQL have it, whose @
// stands here.
func (h *textScan) source(at int) {
	t := h.text
	from := beginOf(t, at, identReach, func(c byte) bool { return c > ' ' && !quoteByte(c) && c != '=' && c != '/' && c != '@' })
	colon := strings.IndexByte(t[from:at], ':')
	if colon < 1 {
		return
	}
	if text := t[from+colon+1 : at]; len(text) >= 3 && !h.placeholder(text) && !exampleLogin(t[from:from+colon], text, "host") {
		h.add(from+colon+1, at, ruleURL)
	}
}

// wrapped gives where the text begins that a call makes bytes or another kind of
// text of: []byte("…"), Buffer.from("…"), new String("…"). It gives the same
// place if there is none.
func (h *textScan) wrapped(at int) int {
	t := h.text
	if at >= len(t) || !letter(t[at]) && t[at] != '[' && t[at] != '{' {
		return at
	}
	i := endOf(t, at, identReach, func(c byte) bool { return wordByte(c) || strings.IndexByte(".[] :", c) >= 0 })
	if i+1 >= len(t) || t[i] == '{' && (i > at || !quoteByte(t[i+1])) || t[i] != '{' && (i == at || t[i] != '(') || !quoteByte(t[i+1]) {
		return at
	}
	name := t[at:i]
	if n := strings.LastIndexAny(name, ".: ]"); n >= 0 {
		name = name[n+1:]
	}
	switch strings.ToLower(strings.TrimRight(name, " ")) {
	case "", "byte", "bytes", "bytearray", "from", "string", "str", "getbytes", "securestring", "sensitive", "text", "some", "unhexlify", "b64decode", "decodestring", "fromhex", "atob", "secret", "password":
		if name == "" && t[i] == '(' && (i < 2 || t[i-1] != ']') {
			return at
		}
		return i + 1
	}
	return at
}

// wordOnly: nothing but letters of one case, or such that can be read.
func wordOnly(text string) bool {
	m := compositionOf(text)
	return m.letters() == len(text) && (m.upper == 0 || wordy(text))
}

// twoWords: nothing but this name and a value that can be no word stands on the
// line, as in the settings of many servers: bindpw …, enable password ….
func (h *textScan) twoWords(id ident, at int) bool {
	t := h.text
	before := t[max(0, id.from-identReach):id.from]
	before = strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:])
	if before != "" && before != "enable" {
		return false
	}
	return aloneOnLine(t, endOf(t, at, nearMost, func(c byte) bool { return c > ' ' })) && h.readsRandom(at)
}

// note: the line up to this name is a few words that a person wrote before a
// colon and a value that can be no word: Admin password: ….
func (h *textScan) note(id ident, at int) bool {
	t := h.text
	before := t[max(0, id.from-identReach):id.from]
	if n := strings.LastIndexByte(before, '\n'); n >= 0 {
		before = before[n+1:]
	} else if id.from > identReach {
		return false
	}
	if endOf(before, 0, len(before), func(c byte) bool { return letter(c) || strings.IndexByte(" -*#\t", c) >= 0 }) < len(before) {
		return false
	}
	return aloneOnLine(t, endOf(t, at, nearMost, func(c byte) bool { return c > ' ' })) && h.readsRandom(at)
}
