package shellguard

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// safeSQL: the rule itself says that sqlite3 starts no programs, loads nothing and
// opens no other file.
func safeSQL(words []string) bool {
	has := func(option string) bool { return slices.Contains(words, option) || slices.Contains(words, "-"+option) }
	return has("-safe") && has("-readonly")
}

// obeysInput: programs that take commands from their input, among them such as
// start programs; what a rule spells out does not show them.
func obeysInput(name string) bool {
	return isOneOf(name, "sqlite3 psql mysql mariadb ed ex vi vim nvim gdb lldb dc m4 expect lftp ftp sftp mongosh mongo")
}

// selectCalls are words that may stand before a bracket in a statement that only
// reads: functions without an effect, and words of the language.
const selectCalls = " count sum avg min max total abs round length lower upper trim ltrim rtrim substr substring replace instr coalesce ifnull nullif iif date time datetime julianday strftime unixepoch group_concat string_agg typeof hex quote printf format char unicode json json_extract json_array_length json_type json_each random distinct rank row_number dense_rank lag lead first_value last_value " +
	"select from where and or not in exists values as on join using over filter union all except intersect having by when then else case like glob between is limit offset any cast with explain plan query "

var selectCall = pattern.Of(`([A-Za-z_][A-Za-z0-9_]*)\s*\(`)

// plainSelect: one statement that begins with select and calls nothing but what
// is known to read. Names in quotes and comments could hide a call, so that
// neither is taken; sqlite3 has functions that start programs and write files.
func plainSelect(s string) bool {
	low := strings.ToLower(strings.TrimRight(strings.TrimSpace(s), "; \n"))
	if !strings.HasPrefix(low, "select ") && !strings.HasPrefix(low, "explain ") {
		return false
	}
	code := withoutStrings(low)
	if strings.ContainsAny(code, ";\"`[]\\'") || strings.Contains(code, "--") || strings.Contains(code, "/*") || strings.Contains(code, "\n.") {
		return false
	}
	for _, m := range selectCall.Regexp().FindAllStringSubmatch(code, -1) {
		if !strings.Contains(selectCalls, " "+m[1]+" ") {
			return false
		}
	}
	return true
}

// withoutStrings takes the text of strings in single quotes out of a statement.
func withoutStrings(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "'")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, after, ok := strings.Cut(rest, "'")
		if !ok {
			return b.String() + "'" // it has no end
		}
		b.WriteByte(' ')
		s = after
	}
}

// patternAddress: curl makes several addresses of one with {} or [], so that
// what it is about to fetch, and how, is decided by it. Behind the name of the
// machine that does no harm.
func patternAddress(args []Arg, i int) bool {
	head, _, _ := strings.Cut(args[i].Text, "/")
	if !strings.ContainsAny(head, "{[") || i > 0 && curlValue(args[i-1].Text) {
		return false
	}
	return !slices.ContainsFunc(args, func(a Arg) bool {
		return a.Text == "--globoff" || len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Trim(a.Text[1:], "gsSfLkvi") == "" && strings.Contains(a.Text, "g")
	})
}

// curlValue: an option of curl whose next word is no address.
func curlValue(option string) bool {
	if strings.HasPrefix(option, "--") {
		switch option {
		case "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "--header", "--write-out", "--form", "--form-string", "--user-agent", "--cookie", "--request":
			return true
		}
		return false
	}
	return len(option) > 1 && option[0] == '-' && strings.Trim(option[1:len(option)-1], "sSfLkvigGIN") == "" && strings.ContainsAny(option[len(option)-1:], "dHwFAbX")
}

// notWeb: an address that is a file, or one of a protocol in which a request can
// say anything to any service. Some of them curl guesses from the name of the
// host.
func notWeb(address string) bool {
	low := strings.ToLower(strings.TrimSpace(address))
	if strings.Contains(low, "file://") {
		return true
	}
	return slices.ContainsFunc(strings.Fields("file: scp: sftp: dict: dict. gopher telnet: tftp: imap: imaps: imap. pop3: pop3s: pop3. smtp: smtps: smtp. mqtt: mqtts: rtsp: rtmp smb ldap ipfs: ipns:"),
		func(begin string) bool { return strings.HasPrefix(low, begin) })
}
