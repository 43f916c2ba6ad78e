package shellguard

import "strings"

// checkAwk looks for everything by which an awk program can start programs,
// write, or read what is not in its operands. It reads no strings and no
// regular expressions: a > or | in one of them asks as well.
func checkAwk(u *usage) string {
	if u.operands[0].Glob {
		return "its program is not quoted, so files of the directory take its place"
	}
	program := u.operands[0].Text
	for _, word := range []string{"system", "getline", "ENVIRON", "ARGV", "ARGC", "PROCINFO", "close", "fflush", "SYMTAB", "FUNCTAB", "extension"} {
		if strings.Contains(program, word) {
			return "its program uses " + word
		}
	}
	if strings.Contains(program, "@") {
		return "its program uses @"
	}
	plain := strings.ReplaceAll(strings.ReplaceAll(program, "||", ""), ">=", "")
	if onlyCompares(plain) {
		plain = strings.ReplaceAll(plain, ">", "")
	}
	if strings.ContainsAny(plain, "|>") {
		return "its program may write or start a program (| or >)"
	}
	for _, a := range u.operands[1:] {
		if strings.HasPrefix(a.Text, "/inet") {
			return "it opens a connection for " + Quote(a.Text)
		}
	}
	for _, o := range u.opts {
		if o.name == "v" && !isAssignment(o.value) {
			return "its -v is not an assignment"
		}
	}
	return ""
}

// onlyCompares: every > of a program stands outside braces, where nothing is
// printed, and there is no string or regular expression that could hide a brace.
func onlyCompares(program string) bool {
	depth := 0
	for i := range len(program) {
		switch program[i] {
		case '"', '/', '\\', '#':
			return false
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		case '>':
			if depth != 0 || i+1 < len(program) && program[i+1] == '>' {
				return false
			}
		}
	}
	return !strings.Contains(program, "function")
}
