package secrets

import "strings"

// callWords are functions that take a password or a key by its place among their
// arguments, and that place, counted from one.
func callWords() map[string]int {
	return map[string]int{
		"getconnection(": 3, "mysqli_connect(": 3, "mysql_connect(": 3, "mysql_pconnect(": 3, "new mysqli(": 3, "new pdo(": 3, "new sequelize(": 3, "pymysql.connect(": 3, "mysqldb.connect(": 3,
		"oci_connect(": 2, "ldap_bind(": 3, "ftp_login(": 3, "imap_open(": 3, "sqlcredential(": 2, "createhmac(": 2, "cookieparser(": 1, "sqlplus ": 0, "oracle:thin:": 0, "oracle:oci:": 0, "mysqli_real_connect(": 4,
	}
}

const argumentReach = 256 // so much of a call is looked at

// argument looks at the argument of a call that is a password or a key, if it is
// written out.
func (h *textScan) argument(end, place int) {
	t := h.text
	if place == 0 {
		h.slashed(end)
		return
	}
	i := end
	for n := 1; n <= place; n++ {
		i = skipSpaces(t, i)
		if i >= len(t) || i-end > argumentReach {
			return
		}
		v := h.valueAt(i, opComma, false)
		if !quoteByte(t[i]) {
			for v.to = i; v.to < len(t) && v.to-end < argumentReach && (identByte(t[v.to]) || t[v.to] == '$' || t[v.to] == '>' || t[v.to] == '(' || t[v.to] == ')' && v.to > i && t[v.to-1] == '('); v.to++ {
			}
			v.quoted = false
		}
		if v.to <= i {
			return
		}
		if n == place {
			text := t[v.from:v.to]
			if v.quoted && len(text) >= 4 && !h.placeholder(text) && !typeName(strings.ToLower(text)) && !spliced(text) && strings.IndexByte(text, ' ') < 0 && !fileLike(text) {
				h.add(v.from, v.to, ruleCommand)
			}
			return
		}
		if i = v.to; v.quoted {
			i++
		}
		if i = skipSpaces(t, i); i >= len(t) || t[i] != ',' {
			return
		}
		i++
	}
}

// slashed looks at user/password@place, as Oracle has it.
func (h *textScan) slashed(at int) {
	t := h.text
	end := endOf(t, at, argumentReach, func(c byte) bool { return !space(c) && !quoteByte(c) && c != '@' })
	slash := strings.IndexByte(t[at:end], '/')
	if slash < 1 || end >= len(t) || t[end] != '@' {
		return
	}
	if text := t[at+slash+1 : end]; len(text) >= 3 && !h.placeholder(text) && !strings.ContainsAny(text, "/{}<>$") && !typeName(strings.ToLower(text)) {
		h.add(at+slash+1, end, ruleCommand)
	}
}
