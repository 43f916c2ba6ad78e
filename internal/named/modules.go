package named

import (
	"slices"
	"strings"
)

// Module says who would import a file or a directory by its name from the directory that
// it lies in. It is a file if its name has the end of one; empty: nobody would.
func (t Taken) Module(entry string) (by string, file bool) {
	stem, end, file := strings.Cut(entry, ".")
	if file && !slices.Contains([]string{"py", "pyc", "so", "pyd"}, end[strings.LastIndexByte(end, '.')+1:]) {
		return "", true
	}
	if by := t.Modules[stem]; by != "" || t.Python == "" {
		return by, file
	}
	if hasWord(imported, stem) || hasWord(seldom, stem) || strings.HasPrefix(stem, "_sysconfigdata_") {
		return t.Python, file
	}
	return "", file
}

// IsModuleStart tells of a file in a directory whether Python takes the directory for a
// package because of it. It takes one without such a file only if there is no package
// of that name elsewhere.
func IsModuleStart(name string) bool {
	return strings.HasPrefix(name, "__init__.") || strings.HasPrefix(name, "__main__.")
}
