package shellguard

import "strings"

// findRoots are the paths find starts at.
func findRoots(args []Arg) []Arg {
	i := 0
	for i < len(args) && (args[i].Text == "-H" || args[i].Text == "-P") {
		i++
	}
	from := i
	for i < len(args) && !startsExpression(args[i].Text) {
		i++
	}
	return args[from:i]
}

func startsExpression(s string) bool {
	return s == "(" || s == ")" || s == "!" || s == "," || strings.HasPrefix(s, "-") && s != "-"
}

// checkFind reads find's expression: tests and prints only. Whatever writes
// (-delete, -fprint, -fls …), starts programs (-exec, -ok …), follows links out
// of the tree (-L, -follow) or reads names from files is not in the lists.
func checkFind(args []Arg) string {
	roots := findRoots(args)
	i := 0
	for i < len(args) && (args[i].Text == "-H" || args[i].Text == "-P") {
		i++
	}
	for _, r := range roots {
		if !r.Literal && !r.safePattern() && r.computed != computedPlaces {
			return "the argument " + clip(r.Text) + " is not literal"
		}
	}
	for i += len(roots); i < len(args); i++ {
		a := args[i]
		if !a.Literal {
			return "the argument " + clip(a.Text) + " is not literal"
		}
		switch word := a.Text; findKind(word) {
		case 0:
			return "find's " + Quote(word) + " is not known to be harmless"
		case '=':
			i++
			if i == len(args) {
				return "find's " + Quote(word) + " lacks its value"
			}
			v := args[i]
			if !v.Literal { // a pattern becomes whatever a file is called
				return "the argument " + clip(v.Text) + " is not literal"
			}
			if (word == "-newer" || word == "-anewer" || word == "-cnewer") && (strings.HasPrefix(v.Text, "/") || strings.Contains(v.Text, "..")) {
				return "find's " + Quote(word) + " looks at " + Quote(v.Text)
			}
			if strings.HasPrefix(v.Text, "-") && (len(v.Text) < 2 || findKind(v.Text) != 0 || !isFindNumber(v.Text)) {
				return "the value " + Quote(v.Text) + " of " + Quote(word) + " looks like an option"
			}
		}
	}
	return ""
}

// isFindNumber: -7, -10k and -u+w are what -mtime, -size and -perm take.
func isFindNumber(s string) bool {
	return s[1] >= '0' && s[1] <= '9' || strings.ContainsAny(s, "+=") && strings.Trim(s[1:], "ugoarwxst+=,") == ""
}

// findKind: ' ' a word that stands alone, '=' one with a value, 0 neither.
func findKind(word string) byte {
	switch word {
	case "(", ")", "!", ",":
		return ' '
	}
	name, ok := strings.CutPrefix(word, "-")
	if !ok {
		return 0
	}
	return wordKind("a and o or not empty print print0 prune quit depth mount xdev daystart readable writable executable nouser nogroup true false ls noleaf ignore_readdir_race noignore_readdir_race nowarn warn "+
		"name= iname= path= ipath= wholename= iwholename= regex= iregex= regextype= type= xtype= maxdepth= mindepth= mtime= mmin= atime= amin= ctime= cmin= size= user= group= uid= gid= perm= links= inum= lname= ilname= fstype= used= printf= newermt= newerat= newerct= newer= anewer= cnewer=", name)
}
