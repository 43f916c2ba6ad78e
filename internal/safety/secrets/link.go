package secrets

import "strings"

const (
	ruleAssigned = "assigned-secret"
	ruleURL      = "url-password"
	ruleHeader   = "authorization-header"
	ruleCommand  = "command-password"
	rulePGPass   = "pgpass-password"
	ruleJWK      = "private-jwk"
	ruleTink     = "tink-key"
	ruleVapid    = "vapid-key"
	ruleShaped   = "prefixed-token"
)

const authorityReach = 512

// address looks for a password in an address whose :// begins here.
func (h *textScan) address(colon int) {
	t := h.text
	if colon == 0 || !letter(t[colon-1]) && !digit(t[colon-1]) {
		return
	}
	from := colon + len("://")
	end, at, slash := from, -1, -1
	for end < len(t) && end-from < authorityReach {
		c := t[end]
		if c <= ' ' || c == '"' || c == '<' || c == '>' || c == '`' || c == '\\' && (end+1 >= len(t) || t[end+1] != '\\') || c == '|' && at >= 0 {
			break
		}
		if c == '\'' && at >= 0 || c == ')' && at >= 0 || c == ',' && at >= 0 && slash >= 0 {
			break
		}
		if (c == '/' || c == '?') && slash < 0 {
			if slash = end; at >= 0 {
				break
			}
		}
		if c == '@' && (slash < 0 || at < 0 && strings.IndexByte(t[from:slash], ':') >= 0) {
			at = end
			if slash >= 0 {
				break
			}
		}
		if c == '#' && slash >= 0 && at < 0 {
			break
		}
		end++
	}
	if at <= from {
		return
	}
	inPath := slash >= 0 && slash < at
	user := t[from:at]
	host := t[at+1 : min(len(t), at+40)]
	colonAt := strings.IndexByte(user, ':')
	if colonAt < 0 || inPath && colonAt > slash-from {
		if !inPath && h.tokenUser(user) {
			h.add(from, at, ruleURL)
		}
		return
	}
	if host == "" || !wordByte(host[0]) && host[0] != '[' && host[0] != '$' && host[0] != '{' && host[0] != '.' && host[0] != '(' {
		return
	}
	name, pass := user[:colonAt], user[colonAt+1:]
	if inPath && !hostLike(host) {
		return // an @ in a path
	}
	if basic := hasFold(pass, "x-oauth-basic"); basic || len(pass) < 3 {
		if h.tokenUser(name) {
			h.add(from, from+colonAt, ruleURL) // the token is the name, and the password says so
		}
		return
	}
	if exampleLogin(name, pass, host) {
		return
	}
	h.add(from+colonAt+1, at, ruleURL)
}

// tokenUser: what stands in the place of a user's name is a token.
func (h *textScan) tokenUser(user string) bool {
	m := compositionOf(user)
	return len(user) >= 16 && m.digit > 1 && m.letters() > 4 && m.bits > 3 && !wordy(user) && !h.placeholder(user) && !strings.ContainsAny(user, ".%")
}

func hostLike(host string) bool {
	for i := range len(host) {
		if c := host[i]; !wordByte(c) && c != '-' && c != '.' {
			return i > 2 && (c == ':' || c == '/') || i > 3 && strings.IndexByte(host[:i], '.') > 0
		}
	}
	return len(host) > 3
}

// exampleLogin: what stands in an address only to show its form.
func exampleLogin(name, pass, host string) bool {
	switch pass[0] {
	case '$', '<', '{', '[', '*', '%':
		if pass[0] != '%' || len(pass) < 3 || !hexDigit(pass[1]) {
			return true
		}
	}
	if strings.ContainsAny(pass, "{}<> \"'") || strings.Contains(pass, "...") || strings.HasPrefix(pass, "//") || strings.Trim(pass, "x*.X") == "" || strings.Contains(pass, "[redacted]") {
		return true
	}
	low := strings.ToLower(pass)
	if strings.HasSuffix(low, "anoncvs") || low == "anonymous" || low == "guest" || name == "foo" && low == "bar" {
		return true
	}
	switch low {
	case "password", "pass", "passwd", "pwd", "secret", "token", "pw", "mypassword", "your_password", "yourpassword", "your-password", "my_password", "dbpassword", "db_password", "userpass", "pass_word", "changeme":
		return name == "" || hasFold(host, "host") || hasFold(host, "your") || hasAnyFold(host, "localhost", "127.0.0.1", "[::1]", "example.")
	}
	return false
}

// header looks at what follows the word Bearer or Basic.
func (h *textScan) header(begin, end int) {
	t := h.text
	if begin > 0 && wordByte(t[begin-1]) && t[begin-1] != '_' && !escapeEnds(t, begin) {
		return
	}
	from := endOf(t, end, 4, func(c byte) bool { return strings.IndexByte(" :+=,\"'", c) >= 0 })
	if from == end {
		return
	}
	i := endOf(t, from, openEnd, func(c byte) bool { return wordByte(c) || strings.IndexByte("-.~+/=:", c) >= 0 })
	text := strings.TrimRight(t[from:i], ".:")
	if len(text) < 8 || strings.Contains(text, "://") {
		return
	}
	if lower(t[begin+1]) == 'e' && authorized(t, begin) && h.bearer(text) {
		h.add(from, from+len(text), ruleHeader)
		return
	}
	if h.placeholder(text) {
		return
	}
	if lower(t[begin+1]) == 'a' { // Basic
		if userAndPassword(text) || authorized(t, begin) && len(text) >= 12 && h.bearer(text) && compositionOf(text).upper > 0 && !strings.ContainsAny(text, ".:") {
			h.add(from, from+len(text), ruleHeader)
		}
		return
	}
	if m := compositionOf(text); len(text) >= 14 && m.digit > 1 && m.letters() > 1 && m.bits > 2.8 && !(wordy(text) && m.digit < 4) {
		h.add(from, from+len(text), ruleHeader)
	}
}

// flagReach is how far before a flag the command is looked for.
const flagReach = 400

// flag looks at the value of -u user:password and of -p password in a command
// that takes such.
func (h *textScan) flag(begin, end int, user bool) {
	t := h.text
	i := end
	if i < len(t) && (t[i] == '=' || t[i] == ' ') {
		i = skipBlanks(t, i+1)
	}
	if begin-h.flags > flagReach || h.flags == 0 || strings.IndexByte(t[h.flags:begin], '\n') >= 0 || user {
		line := t[max(0, begin-flagReach):begin]
		if n := strings.LastIndexByte(line, '\n'); n >= 0 && !strings.Contains(line[max(0, n-3):n], "\\") && !user {
			line = line[n:]
		}
		h.takes = user && hasProgram(line, "curl", "wget", "http", "https", "xh") || !user && hasProgram(line, "mysql", "mysqldump", "mysqladmin", "sshpass", "psexec", "mariadb", "mongo", "mongodump", "redis-cli", "docker login", "podman login", "7z", "az login", "ldapsearch", "smbclient", "sqlcmd", "osql", "isql", "bcp", "psexec64", "psexec.exe", "psexec64.exe", "plink", "pscp", "mongosh", "mongorestore", "winexe", "evil-winrm", "crackmapexec")
		if !user && (t[end-1] == 'P' && !h.takes && hasProgram(line, "zip", "unzip")) {
			h.takes = true
		}
		h.apart = !user && h.takes && t[begin+1] == '-' && hasProgram(line, "sshpass", "psexec", "psexec64", "psexec.exe", "psexec64.exe", "docker login", "podman login", "sqlcmd", "osql", "evil-winrm", "crackmapexec")
		h.flags = begin
		if user {
			h.flags = 0
		}
	}
	if !h.takes {
		return
	}
	v := h.valueAt(i, opSpace, true)
	if user {
		v.to = shellWord(t, i)
		v.from = i
		if v.to-v.from > 1 && quoteByte(t[v.from]) && t[v.to-1] == t[v.from] && strings.IndexByte(t[v.from+1:v.to-1], t[v.from]) < 0 {
			v.from, v.to = v.from+1, v.to-1
		}
	}
	text := t[v.from:v.to]
	if !user {
		m := compositionOf(text)
		if h.apart && len(text) >= 3 && text[0] != '-' && text[0] != '/' && !h.placeholder(text) {
			h.add(v.from, v.to, ruleCommand)
			return
		}
		glued := t[begin+1] == '-' && end == i && hasProgram(t[max(0, begin-flagReach):begin], "mysql", "mysqldump", "mysqladmin", "mariadb")
		if len(text) >= 4 && !h.placeholder(text) && !fileLike(text) && text[0] != '-' && (glued && m.letters()+m.digit == len(text) || m.digit > 0 && m.letters() > 0 || m.other > 0 && m.letters() > 0 && !m.kebab) {
			h.add(v.from, v.to, ruleCommand)
		}
		return
	}
	colon := strings.IndexByte(text, ':')
	if colon < 0 || len(text) < 5 || len(text)-colon-1 < 3 && colon < 8 {
		return
	}
	name, pass := text[:colon], text[colon+1:]
	if pass == "" || len(pass) < 3 && name != "" { // curl -u key:
		if m := compositionOf(name); len(name) >= 12 && m.digit > 1 && !h.placeholder(name) {
			h.add(v.from, v.from+colon, ruleCommand)
		}
		return
	}
	bare := strings.Trim(pass, "\"'{}")
	if h.placeholder(bare) || exampleLogin(name, bare, "example") {
		return
	}
	h.add(v.from+colon+1, v.to, ruleCommand)
}

// shellWord gives the end of a word of a command line.
func shellWord(t string, i int) int {
	var open byte
	for from := i; i < len(t) && i-from < valueReach; i++ {
		switch c := t[i]; {
		case open != 0:
			if c == open {
				open = 0
			}
		case space(c):
			return i
		case quoteByte(c):
			open = c
		}
	}
	return i
}

func indexFold(s, word string) int {
	for i := 0; i+len(word) <= len(s); i++ {
		if lower(s[i]) == word[0] && hasFold(s[i:], word) {
			return i
		}
	}
	return -1
}

func hasProgram(line string, names ...string) bool {
	for _, name := range names {
		for at := 0; ; {
			n := indexFold(line[at:], name)
			if n < 0 {
				break
			}
			end := at + n + len(name)
			if (at+n == 0 || !wordByte(line[at+n-1])) && (end >= len(line) || !wordByte(line[end])) {
				return true
			}
			at = end
		}
	}
	return false
}

// call looks at the last of the two or three texts that a call of a function
// for credentials begins with.
func (h *textScan) call(end int) {
	t := h.text
	i := skipSpaces(t, end)
	if i >= len(t) || t[i] != '(' {
		return
	}
	last := value{}
	for n := range 3 {
		if i = skipSpaces(t, i+1); i >= len(t) || !quoteByte(t[i]) && t[i] != '@' {
			break
		}
		v := h.valueAt(i, opComma, true)
		if v.to <= v.from {
			break
		}
		if last.quoted && v.quoted || n > 0 {
			last = v
		}
		if i = skipSpaces(t, v.to+1); i >= len(t) || t[i] != ',' {
			break
		}
	}
	if text := t[last.from:last.to]; len(text) >= 3 && !h.placeholder(text) && !typeName(strings.ToLower(text)) {
		h.add(last.from, last.to, ruleCommand)
	}
}

// pgpass looks at a line of host:port:database:user:password.
func (h *textScan) pgpass(begin, end int) {
	t := h.text
	line := begin
	for line > 0 && begin-line < 128 && t[line-1] != '\n' {
		if space(t[line-1]) {
			return
		}
		line--
	}
	i, fields := end, 0
	for i < len(t) && i-end < 256 && !space(t[i]) && fields < 2 {
		if t[i] == ':' {
			fields++
		}
		i++
	}
	from := i
	i = endOf(t, from, 128, func(c byte) bool { return !space(c) && c != '"' })
	if text := t[from:i]; fields == 2 && len(text) >= 3 && !strings.ContainsAny(text, "/:") && !h.placeholder(text) && line < begin {
		h.add(from, i, rulePGPass)
	}
}

// jwk looks for the private part of a key in JSON whose "kty" stands here.
func (h *textScan) jwk(begin, end int) {
	t := h.text
	if begin < h.jwked {
		return
	}
	from, to := max(0, begin-2048), min(len(t), end+2048)
	if open := strings.LastIndexByte(t[from:begin], '{'); open >= 0 {
		from += open
	}
	if end := strings.IndexByte(t[begin:to], '}'); end >= 0 {
		to = begin + end
	}
	h.jwked = to
	for _, name := range [...]string{`"d"`, `"k"`, `"p"`, `"q"`, `"dp"`, `"dq"`, `"qi"`} {
		n := strings.Index(t[from:to], name)
		if n < 0 {
			continue
		}
		i := skipSpaces(t, from+n+len(name))
		if i >= len(t) || t[i] != ':' {
			continue
		}
		if v := h.valueAt(skipSpaces(t, i+1), opAssign, true); v.quoted && v.to-v.from >= 20 {
			h.add(v.from, v.to, ruleJWK)
		}
	}
}
